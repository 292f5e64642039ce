"""Python numbers become tensors and shapes are relaxed, where the function only computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.records.types import Change, Fact, Trace

NUMBER = """\
import tensorflow as tf

@tf.function
def step(x, rate):
    {body}

for n, x in data:
    {call}
"""
FLOAT = "Python float 0.1"


def number(
    folder: Path,
    body: str = "return x * rate",
    call: str = "step(x, 0.1 * n)",
    before: str = FLOAT,
    signature: str = "x: tensor float32 (8, 4)",
) -> Program:
    program = Program(folder, NUMBER.format(body=body, call=call), "retracing")
    change = Change("rate", "python_number", before, before)
    traced = Trace(
        *(1, "step", "train.py:3", 0.1, 0.1, "signature"),
        changes=(change,),
        signature=(signature, f"rate: {before}"),
    )
    line = program.line("for n") + 1
    return program.saw(traced, traced, Fact("called_at", f"step (train.py:3) at train.py:{line}"))


@pytest.mark.parametrize(
    ("call", "patched"),
    [
        ("step(x, 0.1 * n)", "step(x, tf.constant(0.1 * n, tf.float32))"),
        ("step(x, rate=r)  # ä", "step(x, rate=tf.constant(r, tf.float32))  # ä"),
        ("use('ß', step(x, rates[n]))", "use('ß', step(x, tf.constant(rates[n], tf.float32)))"),
        ("step(x, max(r, 0.1),)", "step(x, tf.constant(max(r, 0.1), tf.float32),)"),
    ],
)
def test_a_number_becomes_a_tensor(tmp_path: Path, call: str, patched: str) -> None:
    assert number(tmp_path, call=call).changed() == [f"-{call}", patched]


@pytest.mark.parametrize(
    ("body", "is_certain"),
    [
        ("w.assign_sub(rate * x)", True),
        ("return tf.square(x) * (1 - rate)", True),
        ("r = rate / 2; return x * r", True),
        ("return x if rate > 0.5 else -x", False),
        ("if rate: x = -x\n    return x", False),
        ("return tf.zeros([rate]) + x", False),
        ("return tf.reshape(x, [2, rate * 1])", False),
        ("for _ in range(rate): x = x\n    return x", False),
        ("rate = rate + 1; return rate * x", False),
        ("return model(x, rate)", False),
        ("return f'{rate}' and x", False),
        ("rates.append(rate); return x", False),
        ("return int(rate) * x", False),
        ("r = rate * 1; return x if r else x", False),
    ],
)
def test_a_function_that_needs_a_number_keeps_it(
    tmp_path: Path, body: str, is_certain: bool
) -> None:
    program = number(tmp_path, body)
    assert (program.patched() if is_certain else program.refusals()) != ""


@pytest.mark.parametrize(
    "change",
    [
        {"before": "Python int 3"},
        {"signature": "x: tensor float64 (8, 4)"},
        {"call": "step(*x)"},
        {"call": "step(x, 0.1 * n) + step(x, n)"},
        {"call": "train(x, 0.1 * n)"},
        {"call": "step(x)"},
    ],
)
def test_a_call_that_is_not_certain_stays(tmp_path: Path, change: dict[str, str]) -> None:
    assert number(tmp_path, **change).refusals()


SHAPES = """\
import tensorflow as tf

{decorator}
def step(x):
    {body}
"""


def shapes(
    folder: Path,
    decorator: str = "@tf.function",
    body: str = "return x + 1",
    jit: bool = False,
    retraces: int = 2,
) -> Program:
    program = Program(folder, SHAPES.format(decorator=decorator, body=body), "retracing")
    change = Change("x", "shape", "tensor float32 (8, 4)", "tensor float32 (9, 4)")
    traced = Trace(
        *(1, "step", "train.py:3", 0.1, 0.1, "signature"), changes=(change,), jit_compile=jit
    )
    return program.saw(*[traced] * retraces)


@pytest.mark.parametrize(
    ("decorator", "patched"),
    [
        ("@tf.function", "@tf.function(reduce_retracing=True)"),
        ("@tf.function()  # fast", "@tf.function(reduce_retracing=True)  # fast"),
        ("@tf.function(autograph=False)", "@tf.function(autograph=False, reduce_retracing=True)"),
        ("@tf.function(\n    autograph=False,\n)", None),
        ("@tf.function\n@other", "@tf.function(reduce_retracing=True)"),
        ("@other\n@tf.function", ""),
        ("@tf.function(**options)", ""),
        ("@tf.function(other)", ""),
    ],
)
def test_shapes_are_relaxed_at_the_decorator(
    tmp_path: Path, decorator: str, patched: str | None
) -> None:
    program = shapes(tmp_path, decorator)
    if patched == "":
        assert program.refusals()
    elif patched is None:
        assert "    autograph=False, reduce_retracing=True\n)" in program.patched()
    else:
        assert program.changed()[-1] == patched


@pytest.mark.parametrize("body", ["return x.shape[0] * x", "return len(x) * x", "return range(x)"])
def test_a_function_that_needs_shapes_keeps_its_traces(tmp_path: Path, body: str) -> None:
    assert "uses shapes in Python" in shapes(tmp_path, body=body).refusals()


def test_a_function_for_xla_keeps_its_traces(tmp_path: Path) -> None:
    assert "is compiled by XLA" in shapes(tmp_path, jit=True).refusals()


def test_what_is_on_already_is_not_added(tmp_path: Path) -> None:
    program = shapes(tmp_path)
    program.saw(Fact("function_options", "step (train.py:3)", {"reduce_retracing": 1.0}))
    assert "already has a signature or `reduce_retracing`" in program.refusals()


def test_one_retrace_for_the_last_batch_needs_no_change(tmp_path: Path) -> None:
    fix = shapes(tmp_path, retraces=1).fix()
    assert (fix.patches, fix.refusals) == ((), ())

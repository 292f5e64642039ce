"""Functions traced before the monitor: their waits are not measured, and that is said."""

import pytest

from tb_slowdown_plugin.collectors.hooks import (
    tensorflow_internals as eager_context,
)
from tb_slowdown_plugin.collectors.hooks import (
    tensorflow_internals as traced_earlier,
)

PROGRAM = """
from tb_slowdown_plugin.collectors.hooks import tensorflow_internals as traced_earlier

caveat = lambda: traced_earlier.caveat("IteratorGetNext")
data = tf.data.Dataset.range(4)
assert caveat() == ""
list(data)                      # eager: nothing is traced
tf.function(lambda x: x + 1)(1)
assert caveat() == "", "traced, but it fetches nothing"
with tbslow.start(sys.argv[1] + "/timed"):
    timed = tf.function(lambda iterator: next(iterator))
    timed(iter(data))
assert caveat() == "", "traced under a monitor"
early = tf.function(lambda iterator: next(iterator))
early(iter(data))
assert "before the monitor was started" in caveat()
with tbslow.start(sys.argv[1] + "/early"):
    for _ in range(3):
        with tbslow.summary.step():
            early(iter(data))
"""


@pytest.mark.tensorflow
def test_a_function_that_fetches_and_was_traced_early_makes_the_signal_partial(tmp_path, host):
    from tb_slowdown_plugin.analysis.text.coverage import signal_states
    from tb_slowdown_plugin.reader.logdir import read_runs

    pytest.importorskip("tensorflow")
    done = host.run(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = [run for run in read_runs(str(tmp_path), warn=pytest.fail) if run.name == "early"]
    states = {state.signal: state for state in signal_states(run)}
    assert states["input_wait"].status == "partly"
    assert states["input_wait"].reason.startswith("not measured for functions traced before")
    assert (states["communication"].status, states["communication"].reason) == ("measured", "")


def test_a_context_that_tells_nothing_costs_only_the_remark(monkeypatch):
    def gone(*_, **__):
        raise AttributeError("moved")

    monkeypatch.setattr(traced_earlier, "has_function", gone)
    assert traced_earlier.caveat("IteratorGetNext") == ""


class Node:
    def __init__(self, op):
        self.op = op


class Known:
    """A context with these functions."""

    _initialized = True

    def __init__(self, **functions):
        self.functions = functions

    def list_function_names(self):
        return [*map(str.encode, self.functions), "__wrapped__IteratorGetNext_device_CPU"]

    def get_function_def(self, name):
        kinds = self.functions[name.decode()]
        return type("Definition", (), {"node_def": [Node(kind) for kind in kinds]})


@pytest.mark.parametrize(
    ("functions", "found"),
    [
        ({}, False),
        ({"f": ["CollectiveReduceV2"]}, True),
        ({"f": ["CollectiveReduceV2", "Timestamp"]}, False),
        ({"f": ["Timestamp"], "g": ["MatMul"]}, False),
        ({f"f{i}": ["MatMul"] for i in range(256)} | {"late": ["CollectiveReduceV2"]}, False),
    ],
)
def test_a_function_counts_with_one_kind_and_without_the_other(monkeypatch, functions, found):
    monkeypatch.setattr(eager_context, "_context", lambda: Known(**functions))
    asked = ("CollectiveReduce", "IteratorGetNext")
    assert eager_context.has_function(asked, without="Timestamp") is found


@pytest.mark.tensorflow
def test_a_loop_that_ends_by_what_it_computes_is_open():
    tf = pytest.importorskip("tensorflow")

    def episode(x):
        total = tf.zeros([])
        for _ in tf.range(100):
            total += x
            if total > 50.0:
                break
        return total

    def rounds(x):
        total = tf.zeros([])
        for _ in tf.range(100):
            total += x
        return total

    def until(x):
        return tf.while_loop(lambda s: s < 50.0, lambda s: (s + x,), (tf.zeros([]),))

    recurrent = tf.keras.layers.LSTM(2)
    found = {
        name: eager_context.has_open_loop(tf.function(made).get_concrete_function(given).graph)
        for name, made, given in (
            ("episode", episode, tf.ones([])),
            ("until", until, tf.ones([])),
            ("rounds", rounds, tf.ones([])),
            ("recurrent", recurrent, tf.ones([2, 5, 3])),
            ("no loop", tf.square, tf.ones([])),
        )
    }
    assert {name for name, is_open in found.items() if is_open} == {"episode", "until"}


@pytest.mark.tensorflow
def test_the_argument_that_says_how_often_a_loop_turns_is_found():
    tf = pytest.importorskip("tensorflow")

    def rounds(x, steps):
        for _ in tf.range(steps):
            x *= 2.0
        return x

    def until(x, last):
        turn = tf.constant(0, last.dtype)
        while turn < last:
            x *= 2.0
            turn += 1
        return x

    def between(x, first, last):  # how many turns is none of the two
        for _ in tf.range(first, last):
            x *= 2.0
        return x

    def fixed(x, counter):
        for _ in tf.range(10):
            x *= tf.cast(counter, tf.float32)
        return x

    one, many = tf.constant(3), tf.constant(5, tf.int64)
    found = {
        made.__name__: eager_context.argument_of_turns(
            tf.function(made).get_concrete_function(tf.ones(2), *given).graph
        )
        for made, given in (
            (rounds, [one]),
            (until, [many]),
            (between, [one, one]),
            (fixed, [one]),
        )
    }
    assert found == {"rounds": "steps", "until": "last", "between": "", "fixed": ""}

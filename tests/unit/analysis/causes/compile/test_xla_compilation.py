"""XLA compiles again: for which function, and for shapes or values."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROW = np.arange(SIZE)
COMPILED = np.where(ROW % 50 == 10, 0.2, 0.0)


def cause_of(make_run, find, judge, number, *more, subject="train_step (train.py:33)"):
    events = [
        (int(row), Fact("xla_compilation", subject, {"seconds": 0.2, number: float(nth + 2)}))
        for nth, row in enumerate(np.flatnonzero(COMPILED))
    ]
    run = make_run(0.01 + COMPILED, accounts={"xla_compilation": COMPILED}, events=[*events, *more])
    (cause,) = judge(run, find("xla_compilation", "periodic", COMPILED)).report.causes
    return cause


def test_new_shapes_are_told_with_their_number(make_run, find, judge):
    cause = cause_of(make_run, find, judge, "shapes_seen")
    assert cause.cause == "xla_compilation"
    assert cause.lost_seconds == pytest.approx(2.4)
    assert (
        cause.summary == "XLA recompiles for new shapes. Recompilations don't show up as retraces."
    )
    assert cause.evidence[-1] == (
        "XLA recompiled `train_step` (train.py:33) 12 times (2.4 s) for 13 input shapes."
    )
    assert any(each.text.startswith("Pad to a few lengths") for each in cause.advice)


@pytest.mark.parametrize(
    ("subject", "line"), [("train_step (train.py:33)", 33), ("Keras train step (train.py:70)", 44)]
)
def test_of_a_step_of_keras_the_line_is_where_sizes_begin_to_vary(
    make_run, find, judge, subject, line
):
    varying = Fact("stage_at", "train.py:44", {"Map": 2.0, "varying": 1.0})
    cause = cause_of(make_run, find, judge, "shapes_seen", (0, varying), subject=subject)
    assert (cause.place.file, cause.place.line) == ("train.py", line)


def test_a_smaller_last_batch_of_arrays_in_a_fit_is_told_how_to_avoid(make_run, find, judge):
    """Keras has turned XLA on: the program has no `jit_compile=True` to look for."""
    seconds = np.where(ROW == 281, 6.0, 0.0)
    subject = "Keras train step (train.py:18)"
    compiled = Fact("xla_compilation", subject, {"seconds": 6.0, "shapes_seen": 2.0})
    pipeline = Fact("input_pipeline", "TensorSlice Batch", {"arrays": 1.0})
    events = [(0, pipeline), (281, compiled)]
    run = make_run(0.01 + seconds, accounts={"xla_compilation": seconds}, events=events)
    (cause,) = judge(run, find("xla_compilation", "one_off", seconds)).report.causes
    assert cause.evidence[-1] == (
        "XLA recompiled the Keras train step (train.py:18) 1 time (6 s) for 2 input shapes."
    )
    assert [each.text.partition(":")[0] for each in cause.advice] == [
        "Train on a multiple of the batch size",
        "Leave XLA off for this model",
    ]


def test_a_value_that_xla_needs_is_named(make_run, find, judge):
    needs = "train_step (train.py:33): begin, for Slice (train.py:41)"
    cause = cause_of(make_run, find, judge, "values_seen", (599, Fact("xla_needs", needs, {})))
    assert (
        cause.summary == "XLA recompiles for new values. Recompilations don't show up as retraces."
    )
    assert cause.evidence[-1] == (
        "XLA compiles for each value of `begin`: `Slice` (train.py:41) needs it as a constant."
    )


def test_seconds_without_events_are_named_all_the_same(make_run, find, judge):
    run = make_run(0.01 + COMPILED, accounts={"xla_compilation": COMPILED})
    (cause,) = judge(run, find("xla_compilation", "periodic", COMPILED)).report.causes
    assert cause.cause == "xla_compilation"
    assert cause.lost_seconds == pytest.approx(2.4)

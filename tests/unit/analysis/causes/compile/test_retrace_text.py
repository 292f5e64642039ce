"""Why a function is traced again, in a sentence."""

import pytest

from tb_slowdown_plugin.analysis.causes.compile.retrace_text import tell_reason, typical
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph
from tb_slowdown_plugin.analysis.prepare.retrace_groups import find_retraces
from tb_slowdown_plugin.records.types import Change, Trace


def retraces(cause="signature", *changes, function="train_step", count=5, reason=""):
    return find_retraces(
        TracedGraph(
            Trace(
                row, function, "train.py:3", 0.3, 0.2, cause, row, changes=changes, reason=reason
            ),
            row, float(row), 0.5, 0.1, "later runs", "again",
        )
        for row in range(10, 10 + 20 * count, 20)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("what", "after", "differs"),
    [
        ("python_number", "Python float 0.04", "is a Python float with a new value"),
        ("python_object", "Config object", "is a different object"),
        ("shape", "(20, 10)", "has a new shape"),
        ("rank", "(20,)", "changes its number of dimensions"),
        ("dtype", "float64", "changes its dtype"),
        ("none", "None", "switches between `None` and a value"),
        ("structure", "dict", "changes its structure"),
    ],
)
def test_the_argument_and_how_it_differs(what, after, differs):
    found = retraces("signature", Change("rate", what, "before", after))
    told = tell_reason(found, typical(found), (0, 99))
    assert told.startswith(f"Argument `rate` {differs} ")
    assert told.endswith(", so TensorFlow retraces the function.")


def test_new_functions_and_new_models_are_told_apart():
    found = retraces("new_object")
    assert tell_reason(found, typical(found), (0, 99)).startswith(
        "The program wraps `train_step` in a new `tf.function` "
    )
    keras = retraces("new_object", function="Keras train step")
    assert tell_reason(keras, typical(keras), (0, 99)).endswith(
        ": `compile()` runs again, or the model is a new one."
    )


def test_a_reason_that_tensorflow_logged_is_handed_on():
    found = retraces("signature", reason="too many traces")
    assert tell_reason(found, typical(found), (0, 99)).endswith(
        ", for the reason logged: too many traces."
    )


def test_the_typical_trace_has_the_most_frequent_change():
    rare = retraces("signature", Change("x", "shape", "", ""), count=2)
    usual = retraces("signature", Change("rate", "python_number", "", ""), count=4)
    assert typical([*rare, *usual]).changes[0].argument == "rate"


def test_retraces_are_counted_among_all_steps_up_to_the_last_one_that_lost_time_to_them():
    """The run goes on: the step of the newest retrace has not ended yet."""
    found = retraces("signature", Change("x", "shape", "", ""), count=3)
    rows = [retrace.row for retrace in found]
    told = tell_reason(found, typical(found), (rows[1], rows[1]))
    assert told.startswith("Argument `x` has a new shape in 2 of 21 steps, ")
    told = tell_reason(found, typical(found), (rows[0], rows[0]))
    assert told.startswith("Argument `x` has a new shape once, ")

"""Which argument made TensorFlow trace again: one sentence and its fix for each kind of change."""

from __future__ import annotations

import itertools

import pytest
from unit.analysis.traced_steps import again, traced

from tb_slowdown_plugin.records.types import Change


@pytest.mark.parametrize(
    ("change", "summary"),
    [
        (
            Change("x", "shape", "(32, 10)", "(32, 11)"),
            "Argument `x` has a new shape at every step",
        ),
        (Change("x", "rank", "(3,)", "(3, 1)"), "Argument `x` changes its number of dimensions"),
        (Change("x", "dtype", "float32", "float64"), "Argument `x` changes its dtype"),
        (
            Change("mask", "none", "None", "tensor float32 (3,)"),
            "Argument `mask` switches between `None` and a value",
        ),
        (
            Change("training", "python_value", "Python bool False", "Python bool True"),
            "Argument `training` is a Python bool with a new value",
        ),
        (
            Change("step", "python_number", "Python int 1", "Python int 2"),
            "Argument `step` is a Python int with a new value",
        ),
        (
            Change("cfg['b']", "structure", "list of 2", "list of 3"),
            "Argument `cfg['b']` changes its structure",
        ),
        (
            Change("cfg", "python_object", "Config object", "Config object, a new object"),
            "Argument `cfg` is a different object",
        ),
    ],
)
def test_each_kind_of_change_has_its_sentence(make_run, find, judge, change, summary):
    traces = [again(number, change) for number in range(2, 12)]
    cause = traced(make_run, find, judge, *traces)

    assert cause.summary.startswith(summary)
    assert cause.summary.endswith(", so TensorFlow retraces the function.")
    after = change.after.removeprefix("Python bool ").removeprefix("Python int ")
    assert f"`{change.argument}`: {change.before} \u2192 {after}." in cause.evidence
    assert cause.advice


def test_a_change_to_the_same_is_no_example(make_run, find, judge):
    """A damaged record, or one of another writer, may say that nothing changed."""
    change = Change("x", "shape", "(32, 10)", "(32, 10)")
    cause = traced(make_run, find, judge, *(again(number, change) for number in range(2, 12)))

    assert not any("\u2192" in sentence for sentence in cause.evidence)
    assert cause.evidence


def test_the_line_that_changes_least_comes_first(make_run, find, judge):
    spec = ("tf.TensorSpec(shape=[], dtype=tf.float32)",)
    number = Change("lr", "python_number", "Python float 0.1", "Python float 0.2")
    cause = traced(make_run, find, judge, *(again(n, number, signature=spec) for n in range(2, 12)))
    assert [each.text.split("`")[0] for each in cause.advice] == [
        "Pass a tensor for ",
        "At train.py:41, declare what varies: one graph then serves all calls, and no call has to "
        "change. To verify: the next run should show 0 retraces of ",
    ]

    shape = Change("x", "shape", "(3,)", "(4,)")
    cause = traced(make_run, find, judge, *(again(n, shape, signature=spec) for n in range(2, 12)))
    assert cause.advice[0].text.startswith("At train.py:41, declare")


def test_many_values_are_shortened(make_run, find, judge):
    traces = [
        again(n, Change("lr", "python_number", f"Python float {n}.5", f"Python float {n + 1}.5"))
        for n in range(2, 12)
    ]
    assert (
        "`lr`: Python float 2.5 \u2192 3.5, 3.5 \u2192 4.5, \u2026 11.5 \u2192 12.5."
        in traced(make_run, find, judge, *traces).evidence
    )


@pytest.mark.parametrize(
    ("before", "after", "helps"),
    [
        ("(32, 10)", "(32, 11)", ["Pad to"]),
        ("(32, 10)", "(7, 10)", ["Drop the"]),
        ("(32, 10)", "(7, 11)", ["Pad to", "Drop the"]),
    ],
)
def test_padding_and_full_batches_help_where_their_dimension_differs(
    make_run, find, judge, before, after, helps
):
    change = Change("x", "shape", before, after)
    cause = traced(make_run, find, judge, *(again(n, change) for n in range(2, 12)))
    texts = [" ".join(each.text.split()[:2]) for each in cause.advice]
    assert [text for text in texts if text in ("Pad to", "Drop the")] == helps


def test_numbers_that_differ_in_a_late_digit_are_told_in_full(make_run, find, judge):
    values = [f"Python float {0.04704501 + n * 1e-12!r}" for n in range(12)]
    changes = [Change("lr", "python_number", *pair) for pair in itertools.pairwise(values)]
    traces = [again(number, change) for number, change in enumerate(changes, start=2)]
    cause = traced(make_run, find, judge, *traces)
    (told,) = (text for text in cause.evidence if text.startswith("`lr`"))
    assert "0.04704501 \u2192 0.047045010001" in told

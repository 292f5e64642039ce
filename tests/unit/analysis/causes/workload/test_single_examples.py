"""A function that each step calls for one example after the other is told, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact, Trace

SIZE = 300
PLACE = "grads_of (train.py:5)"
ONE = (
    "tf.TensorSpec(shape=[1, 32], dtype=tf.float32)",
    "tf.TensorSpec(shape=[], dtype=tf.int32)",
)


def report_of(make_run, *, signature=ONE, calls=64, share=0.55, gradients=1.0, more=()):
    numbers = {"gradients": gradients, "calls": calls * SIZE, "seconds": share * 0.05 * SIZE}
    signatures = (signature, *more)
    events = [
        (0, Trace(number, "grads_of", "train.py:5", 0.0, 0.0, "first", signature=each))
        for number, each in enumerate(signatures)
    ]
    events += [(SIZE, Fact("step_not_chosen", PLACE, numbers))]
    return account_for(make_run(np.full(SIZE, 0.05), events=events)).report


def test_it_is_told_in_the_headline_and_in_a_note(make_run):
    report = report_of(make_run)
    assert (report.verdict, report.lost_seconds) == ("healthy", 0)
    assert report.headline.endswith(
        "But 55% of it went to 64 calls of grads_of (train.py:5) in each step, for one example "
        "each."
    )
    (note,) = (each for each in report.notes if "tf.vectorized_map" in each)
    assert note.startswith(
        "Each step calls grads_of (train.py:5) 64 times, for one example each: 8.25 s, 55.0% of "
        "the run."
    )


@pytest.mark.parametrize(
    "otherwise",
    [
        {"signature": ("tf.TensorSpec(shape=[8, 32], dtype=tf.float32)",)},
        {"signature": ("tf.TensorSpec(shape=[None, 32], dtype=tf.float32)",)},
        {"signature": ("tf.TensorSpec(shape=[], dtype=tf.float32)",)},
        {"more": (("tf.TensorSpec(shape=[64, 32], dtype=tf.float32)",),)},
        {"calls": 4},
        {"share": 0.1},
        {"gradients": 0.0},
    ],
)
def test_batches_few_calls_and_what_computes_no_gradients_are_not(make_run, otherwise):
    report = report_of(make_run, **otherwise)
    assert "one example" not in report.headline
    assert not any("tf.vectorized_map" in each for each in report.notes)

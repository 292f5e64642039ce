"""What a callback calls is its own: one cause, with the call's name and line."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 400
CALLBACK = np.where(np.arange(SIZE) % 4 == 0, 0.200, 0.0)
SUBJECT = "callback:Plotter|predict|Plotter.on_train_batch_end (train.py:9)"
PARTS = {"in:computing": 0.064, "in:input_wait": 6.4, "in:tracing": 3.2}


@pytest.fixture
def report(make_run, find, judge):
    def judged(**numbers):
        fact = Fact("called", SUBJECT, {"calls": 64.0, "batches": 64.0, **PARTS, **numbers})
        run = make_run(
            0.010 + CALLBACK,
            accounts={"callback:Plotter": CALLBACK},
            events=[(300, fact)],
        )
        return judge(run, find("callback:Plotter", "periodic", CALLBACK)).report

    return judged


def test_a_predict_that_takes_most_of_a_callback_is_named_with_it(report):
    told = report(seconds=12.8)
    (cause,) = told.causes
    assert (cause.cause, cause.lost_seconds) == ("callbacks", pytest.approx(20.0))
    assert told.headline.endswith("the Plotter callback, which calls predict.")
    assert cause.summary.endswith(
        "Most of it is its call of `predict` in Plotter.on_train_batch_end (train.py:9)."
    )
    assert cause.evidence[-1] == (
        "A call of `predict` in Plotter.on_train_batch_end (train.py:9) takes 200 ms, measured "
        "in the first 64 calls: 100 ms input wait, 50 ms tracing functions, 49 ms other work "
        "of the call and 1 ms computing."
    )
    assert "y = model(x, training=False)" in cause.advice[0].code


def test_a_predict_that_takes_little_of_it_is_evidence_only(report):
    (cause,) = report(seconds=0.64).causes
    assert "predict" not in cause.summary
    assert any("A call of `predict`" in line for line in cause.evidence)
    assert not any("training=False" in advice.code for advice in cause.advice)


@pytest.mark.parametrize(
    ("batches", "computing", "has_advice"),
    [(64_000.0, 3.0, True), (64_000.0, 12.0, False), (6_400.0, 3.0, False)],
    ids=["much beside computing", "little beside it", "batches that come late"],
)
def test_a_predict_on_many_short_batches_gets_larger_ones(report, batches, computing, has_advice):
    parts = {"in:computing": computing, "in:tracing": 0.0}
    (cause,) = report(seconds=12.8, batches=batches, **parts).causes
    found = [each for each in cause.advice if "batch_size=1024" in each.code]
    assert len(found) == has_advice
    assert not any("training=False" in each.code for each in cause.advice)


def test_the_line_that_writes_most_summaries_is_named(make_run, find, judge):
    written = np.where(np.arange(SIZE) >= 200, np.where(np.arange(SIZE) % 4 == 0, 0.1, 0.01), 0.0)
    told = [
        Fact("called", f"summary|tf.summary.{kind}|<module> (train.py:{line})", numbers)
        for kind, line, numbers in (
            ("scalar", 29, {"calls": 187.0, "seconds": 0.2}),
            ("image", 31, {"calls": 128.0, "seconds": 4.0}),
        )
    ]
    run = make_run(
        0.010 + written, accounts={"summary": written}, events=[(390, fact) for fact in told]
    )
    report = judge(run, find("summary", "level_shift", written)).report
    (cause,) = report.causes
    assert report.headline.endswith("writing summaries: train.py:31.")
    assert cause.summary == (
        "Writing summaries takes 32.5 ms on average in 200 of 400 steps. Most of it is "
        "`tf.summary.image` in train.py:31."
    )
    assert cause.evidence[-2:] == (
        (
            "A call of `tf.summary.image` in train.py:31 takes 31.2 ms, measured in the first 128 "
            "calls."
        ),
        (
            "A call of `tf.summary.scalar` in train.py:29 takes 1.07 ms, measured in the first 187 "
            "calls."
        ),
    )
    assert (cause.place.file, cause.place.line) == ("train.py", 31)

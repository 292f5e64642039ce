"""The wait at the end of each pass over the data: named where it grows or takes much, else told."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Epoch, Fact

ACCOUNT = "input_wait:end of pass"


@pytest.fixture
def after_passes(make_run):
    """The report of passes of 50 steps of 20 ms, each followed by a wait of so many seconds."""

    def report(end_seconds, waits_seconds=0.0001, events=(), step_seconds=0.02):
        passes = len(end_seconds) + 1
        size = 50 * passes
        rows = np.arange(50, size, 50)
        ends = np.zeros(size)
        ends[rows] = end_seconds
        wait = np.full(size, waits_seconds)
        step = step_seconds * np.exp(np.random.default_rng(4).normal(0, 0.03, size))
        return account_for(
            make_run(
                step + wait + ends,
                accounts={ACCOUNT: ends, "input_wait": wait},
                events=[*((int(row), Epoch(n)) for n, row in enumerate([0, *rows])), *events],
            )
        ).report

    return report


def test_a_wait_that_grows_from_pass_to_pass_is_named(after_passes):
    """From 10 to 120 ms after passes of 1 s: 6% of the run, and more each time."""
    ends = np.linspace(0.010, 0.120, 23)
    report = after_passes(ends)
    (cause,) = report.causes
    assert (report.verdict, cause.cause, cause.pattern) == (
        "slowdown",
        "input_pipeline",
        "drift",
    )
    assert cause.lost_seconds == pytest.approx((ends - ends[0]).sum(), rel=0.02)
    assert report.headline.endswith(" iterator teardown.")
    assert cause.summary == (
        "Each epoch ends with a wait that keeps getting longer: TensorFlow stops the threads "
        "of the pipeline and waits for them. One of them tunes the stages and may sleep for as "
        "long as the epoch took."
    )
    assert cause.evidence[0] == (
        "Iterator teardown took 1.5 s, 5.8% of the run: 23 times, 10 ms to 120 ms each; 1.27 s of "
        "it counts as lost."
    )
    assert ".repeat(epochs)" in cause.advice[0].code
    assert "autotune.enabled = False" in cause.advice[1].code


def test_a_wait_that_takes_much_of_the_run_is_named_in_full(after_passes):
    """4 s after each pass of 1 s: far beyond what TensorFlow itself takes."""
    report = after_passes([4.0] * 5)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, cause.confidence) == (
        "input_pipeline",
        "epoch_boundary",
        "high",
    )
    assert cause.lost_seconds == pytest.approx(20.0)
    assert cause.lost_fraction == pytest.approx(20.0 / 26.0, rel=0.01)
    assert cause.summary.startswith("Each epoch ends with a wait: TensorFlow stops")


def test_ends_for_which_the_tuner_may_sleep_are_told_and_nobody_blamed(after_passes):
    """3.5 s after passes of 5 s; after passes of 2 s that is more than it sleeps."""
    report = after_passes([3.5] * 5, step_seconds=0.1)
    assert (report.verdict, report.causes) == ("healthy", ())
    assert report.headline.endswith("Ends of epochs took 37%, which an option of tf.data shortens.")
    (cause,) = after_passes([3.5] * 5, step_seconds=0.04).causes
    assert cause.lost_seconds == pytest.approx(17.5)


def test_one_end_has_no_median(after_passes):
    report = after_passes([0.3])
    assert report.causes == ()
    assert report.notes[0].startswith(
        "Iterator teardown took 300 ms, 13.0% of the run: once 300 ms. TensorFlow"
    )


def test_of_a_long_run_as_long_a_wait_is_healthy(after_passes):
    """4 s once, in 101 s: 4% of the run."""
    report = after_passes([0.001] * 49 + [4.0] + [0.001] * 50)
    assert (report.verdict, report.causes, report.notes) == ("healthy", (), ())


@pytest.mark.parametrize("name", ["even", "odd"])
def test_what_tensorflow_itself_takes_is_told_and_nobody_blamed(after_passes, name):
    """Seen in healthy programs: nothing after one pass, a second after the next."""
    ends = {"even": [0.3] * 11, "odd": [0.001, 0.9, 0.0006, 0.001, 1.2, 0.0006] * 2}[name]
    report = after_passes(ends)
    assert (report.verdict, report.causes) == ("healthy", ())
    share = {"even": "21%", "odd": "24%"}[name]
    assert report.headline.endswith(
        f"s. Ends of epochs took {share}, which an option of tf.data shortens."
    )
    (note,) = report.notes
    told = {
        "even": "Iterator teardown took 3.3 s, 21.5% of the run: 11 times, 300 ms each.",
        "odd": "Iterator teardown took 4.21 s, 24.3% of the run: 4 times, 900 ms to 1.2 s each.",
    }
    assert note.startswith(told[name])
    assert note.endswith(
        "`repeat` in the pipeline, with one iterator for all epochs (and `steps_per_epoch` in "
        "`fit`), avoids it; so does `options.autotune.enabled = False`, where no stage is AUTOTUNE."
    )


@pytest.mark.parametrize(
    ("share", "filled", "named"),
    [(0.10, False, True), (0.10, True, False), (0.04, False, False)],
    ids=["never completes", "holds", "costs little"],
)
def test_waiting_for_a_cache_that_never_completes_is_named_from_5_percent_on(
    after_passes, share, filled, named
):
    events = [] if filled else [(150, Fact("cache_unfilled", "", {"passes": 3}))]
    report = after_passes([0.0] * 5, waits_seconds=0.02 * share / (1 - share), events=events)
    assert [cause.cause for cause in report.causes] == (["input_pipeline"] if named else [])
    assert report.verdict == ("slowdown" if named else "healthy")
    told = [*report.notes, *(line for cause in report.causes for line in cause.evidence)]
    assert any("`cache()` never completes" in each for each in told) is not filled
    if named:
        assert report.causes[0].lost_fraction == pytest.approx(share, rel=0.02)

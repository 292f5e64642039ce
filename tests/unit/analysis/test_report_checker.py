"""The checker of figures refuses what reports once said, and nothing that is so."""

from __future__ import annotations

from typing import Any

import pytest
from quantities import found, quantity
from report_checker import contradictions
from sentence_checker import Place, in_sentence

QUOTED: dict[str, Place] = {
    # What reviewers read in reports and on the page, each beside the figures of its cause.
    "The first batch of an epoch takes 211 ms on average, in 25 epochs; any other batch 1.3 ms.": (
        Place(40.0, 1.1)
    ),
    "A step takes 16.3 ms before step 72 and 16.2 ms from it on.": Place(30.0, 0.5, grows=True),
    "The first batch of an epoch takes 211 ms in the median of 25 epochs.": Place(40.0, 1.1),
    "13.0 s of 12.4 s are full collections (generation 2).": Place(60.0, 12.4),
    "24.7 s of 24.7 s are full collections (generation 2).": Place(90.0, 17.6),
    "150.6 s in 0 traces of such functions.": Place(600.0, 150.6),
    "In all 26.6 s of input wait are lost; each was timed where the step asks for its batch.": (
        Place(106.2, 29.8)
    ),
    "26.6 s was lost to input wait, timed at the call that fetches each batch.": (
        Place(106.2, 29.8)
    ),
    "1.7 s (10.5% of the run) in the callback `LearningRate`.": Place(26.59, 2.74),
    "1.7 s (6.4% of the run) went into saving; 2.4 s of it count as lost.": Place(26.59, 2.74),
    "CPU:0 in use 21.3 MiB \u2192 15.0 MiB: +31.2 MiB in 1,000 steps, steadily": Place(),
    "The slow step takes 8.39 ms longer (10 ms to 18.4 ms): 28 ms more in `Iterator::Map` and "
    "27.6 ms more in `EagerPyFunc`.": Place(),
    "`lr`: Python float 0.047045 \u2192 0.047045, 0.047045 \u2192 0.0456.": Place(),
    "The step waits longer and longer: from 20.3 ms to 20.3 ms.": Place(),
    "It grows: 8.2 ms a step in the first tenth of these steps, 7.9 ms in the last.": Place(),
    "12 saves took 3.9 s to 4.2 s each, 60.1 s in all.": Place(960.0, 60.1),
    "It was throttled in 812 of 600 steps.": Place(),
    "Typically a batch takes 211 ms on average.": Place(),
    "24 retraces took 2.9 s: 2.06 s to look the function up, 1.8 s in the first run.": Place(),
    "The step waits for data from the start: 112.0% of the run.": Place(),
    "A save takes 5 min 2 s.": Place(wall=301.0),
    "A step takes \u22121 s on average.": Place(),
    "`loop.py:20` is in 56.7% of the samples at the end, in 0.0% at the start.": Place(),
    "Time per save grew from 5 ms (around step 3) to 4.9 ms (around step 90).": Place(),
    "12 saves by `X` took 60.1 s (3.9 s to 4.2 s each). All of it counts as lost.": Place(
        960.0, 60.1
    ),
    "99.7% of the 3.1 s lost is in those steps.": Place(13.2, 2.4),
    "Disk reads aren't the limit: 4 MiB/s was read from them before, 4 MiB/s since.": Place(
        grows=True
    ),
}

TRUE: dict[str, Place] = {
    "15 of 15 steps took 0 ms, the first of them step 0.": Place(),
    "`SGD` was made again in 23 steps; GPU:0 said so in 335 of 800 steps.": Place(),
    "30 saves by `X` took 47.6 ms to 80.2 ms each, 1.6 s in all; all of it counts as lost (24.9% "
    "of the run).": Place(6.54, 1.629),
    "Input wait is 0.41 ms a step before step 353 and 4.14 ms from it on.": (
        Place(3.9, 1.58, grows=True)
    ),
    "The allocator of CPU:0 holds 27.1 MiB around step 95 and 84.9 MiB around step 541.": Place(),
    "The median step there waits 9.15 ms and works 0.87 ms; without the wait it would be 12 times "
    "as fast.": Place(),
    "30 saves by `tf.train.Checkpoint` took 50 ms to 500 ms each, 8.2 s in all; 7.5 s of it count "
    "as lost (52.6% of the run).": Place(14.26, 7.5),
    "Worker 0 arrives last, and the others wait for it; it jumps from 8 GiB to 9 GiB.": Place(),
    "It is mostly calls of 0.58 ms: of a step of 100 ms that would be 0.6%.": Place(wall=0.095),
    "The default graph has 0 operations at step 0 and 10 at step 140.": Place(),
    "697 ms without work (1 gap) are not in the wall time.": Place(wall=0.42),
    "8 first batches took 550 ms on average in 8 epochs.": Place(40.0, 4.4),
}


@pytest.mark.parametrize("text", QUOTED)
def test_what_reports_once_said_is_refused(text: str) -> None:
    assert in_sentence(text, QUOTED[text])


@pytest.mark.parametrize("text", TRUE)
def test_what_is_so_passes(text: str) -> None:
    assert in_sentence(text, TRUE[text]) == ()


def report(**changed: Any) -> dict[str, Any]:
    cause = {
        "cause": "input_pipeline",
        "lost_seconds": 2.0,
        "lost_fraction": 0.2,
        "pattern": "level_shift",
        "steps": (100, 999),
        "summary": "The step waits for data from step 100 on.",
        "evidence": ("In all 2.0 s of input wait are lost.",),
        "parts": (),
    }
    whole = {
        "headline": "3 s of 10.0 s lost (30%). Biggest cause: waiting for input data.",
        "steps": 1000,
        "wall_seconds": 10.0,
        "lost_seconds": 3.0,
        "lost_fraction": 0.3,
        "unexplained_seconds": 1.0,
        "causes": (cause | changed.pop("cause", {}),),
        "suspects": (),
        "notes": (),
    }
    return whole | changed


SLOW_START = (
    "Slow start: warm-up took {} of 10.0 s; 1 s more is unexplained. 1.00 s was lost in steps 1 "
    "to 88."
)


@pytest.mark.parametrize("changed", [{}, {"headline": SLOW_START.format("2 s")}])
def test_a_report_that_adds_up_passes(changed: dict[str, Any]) -> None:
    assert contradictions(report(**changed)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"headline": "4.98 s of 16.6 s lost (30%). Biggest cause: waiting for input data."},
        {"headline": "1 s of 10.0 s lost (10%). Biggest cause: waiting for input data."},
        {"headline": "4.0 s of 10.0 s lost (30%)."},
        {"headline": SLOW_START.format("3 s")},
        {"lost_seconds": 2.5},
        {"wall_seconds": 2.9},
        {"unexplained_seconds": 0.5},
        {"cause": {"lost_fraction": 0.103}},
        {"cause": {"lost_seconds": 2.74}},
        {"cause": {"parts": ({"lost_seconds": 1.5, "steps": (100, 200)},)}},
        {"cause": {"steps": (100, 99)}},
        {"cause": {"evidence": ("In all 1.7 s of input wait are lost.",)}},
        {"notes": ("Validation took 12.0 s.",)},
        {"suspects": ({"cause": "thermal", "seconds": 1.5, "why": "It is hot."},)},
    ],
)
def test_a_report_whose_figures_disagree_is_refused(changed: dict[str, Any]) -> None:
    assert contradictions(report(**changed))


def test_late_calls_are_as_long_as_the_evidence_says() -> None:
    told = "The callback takes 1.1 ms. Late calls take 4.4 times as long as early ones."
    given = "It grew from 0.42 ms (around step 278) to 0.83 ms (around step 1,325)."
    assert contradictions(report(cause={"summary": told, "evidence": (given,)}))


def test_a_summary_and_its_evidence_say_the_same_growth() -> None:
    told = "The callback takes 1.1 ms and grows: 4.4 times as long at the end."
    given = "It takes 0.42 ms around step 278 and 0.83 ms around step 1,325."
    assert contradictions(report(cause={"summary": told, "evidence": (given,)}))


@pytest.mark.parametrize(
    ("text", "value", "doubt"),
    [
        ("5 min 30 s", 330.0, 0.5),
        ("2 d 8 h", 201_600.0, 1800.0),
        ("8.1 s", 8.1, 0.05),
        ("3.39 \u00b5s", 3.39e-6, 5e-9),
        ("1,204 MiB", 1204 * 2**20, 2**19),
        ("34%", 0.34, 0.005),
        ("1,200", 1200.0, 0.5),
        ("\u22123 ms", -0.003, 0.0005),
    ],
)
def test_a_quantity_is_read_with_its_rounding(text: str, value: float, doubt: float) -> None:
    made = quantity(text)
    assert (made.value, made.doubt) == pytest.approx((value, doubt))


def test_a_pattern_names_what_it_finds() -> None:
    [(_, parts)] = found("<a:amount> of <b:amount>", "wrote 2 MiB of 1.5 GiB in 3 s")
    assert (parts["a"].value, parts["b"].value) == (2 * 2**20, 1.5 * 2**30)

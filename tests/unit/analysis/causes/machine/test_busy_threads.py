"""A thread beside the training: a cause where its core is missing, a note where it isn't."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PERIOD = np.full(SIZE, 0.05)
PLACE = "Reader.run (train.py:56)"
ROWS = np.arange(0, SIZE, 10)


def report_of(make_run, cores=2.0, share=0.8, does="polling"):
    return account_for(
        make_run(
            PERIOD,
            events=[(5, Fact(f"{does}_at", PLACE, {"seconds": 10.0}))],
            signals={f"{does}_seconds": share * 0.05 * (ROWS + 1.0)},
            signal_rows=ROWS,
            process_cpu=np.full(SIZE, 0.09),
            limits={"cpu_count": cores},
        )
    ).report


def test_the_cores_that_it_takes_are_a_cause_with_its_line(make_run):
    report = report_of(make_run)
    (cause,) = report.causes
    assert (report.verdict, cause.cause, cause.pattern) == ("slowdown", "python_overhead", "flat")
    assert cause.lost_seconds == pytest.approx(8.0, rel=0.05)
    assert (cause.place.file, cause.place.line) == ("train.py", 56)
    assert cause.evidence[0] == (
        "It takes 15.6 s of CPU time, 0.78 of a core. The process may use 2 cores, and kept them "
        "busy."
    )
    assert not any("polls" in note or "while it waits" in note for note in report.notes)


def test_where_other_cores_are_free_it_is_a_note(make_run):
    report = report_of(make_run, cores=16.0)
    assert (report.verdict, report.causes) == ("healthy", ())
    assert any(note.endswith("Steps aren't known to be slower by it: other cores were free.")
               for note in report.notes)  # fmt: skip


def test_a_thread_that_polls_now_and_then_is_not_told(make_run):
    report = report_of(make_run, share=0.1)
    assert report.verdict == "healthy"
    assert not any("while it waits" in note for note in report.notes)


def test_one_that_computes_for_itself_is_told_as_such(make_run):
    report = report_of(make_run, does="computing")
    (cause,) = report.causes
    assert (report.verdict, cause.cause, cause.place.line) == ("slowdown", "python_overhead", 56)
    assert f"a thread that computes beside the training in {PLACE}" in report.headline
    assert cause.summary == (
        f"A thread of the program computes beside the steps, in {PLACE}. The training doesn't get "
        "those cores."
    )
    assert cause.evidence[1].startswith("About 7.82 s (39.1% of the run): between what ")
    assert cause.advice[0].text.startswith("Let the thread pause between two rounds")
    (note,) = [n for n in report_of(make_run, 16.0, does="computing").notes if PLACE in n]
    assert note.startswith("A thread of the program computes beside the steps, in")


def slower_from_200_on(make_run, begins=200, own=0.004):
    """Steps of 20 ms, then of 50; a thread takes most of one of 16 cores from a step on."""
    later = np.arange(SIZE) >= 200
    period = np.where(later, 0.05, 0.02) + 1e-4 * np.sin(np.arange(SIZE))
    spent = np.cumsum(np.where(np.arange(SIZE) >= begins, 0.8 * period, 0.0))[ROWS]
    spent[begins >= ROWS] = np.nan  # nothing is counted before there is such a thread
    return account_for(
        make_run(
            period,
            events=[(begins + 5, Fact("computing_at", PLACE, {"seconds": 8.0}))],
            signals={"computing_seconds": spent},
            signal_rows=ROWS,
            thread_cpu=np.where(later, own, 0.003),
            process_cpu=period,
            limits={"cpu_count": 16.0},
        )
    ).report


def test_steps_that_jump_as_it_begins_wait_for_their_turn_in_python(make_run):
    (cause,) = slower_from_200_on(make_run).causes
    assert (cause.cause, cause.pattern, cause.place.line) == ("python_overhead", "level_shift", 56)
    assert cause.lost_seconds == pytest.approx(6.0, rel=0.02)
    assert cause.summary == (
        f"A thread of the program computes beside the steps since step 200, in {PLACE}, and steps "
        "are longer since then."
    )
    assert cause.evidence[1] == (
        "The CPU time of the training thread itself went from 3 ms to 4 ms per step at step 200 "
        "(medians)."
    )


@pytest.mark.parametrize("begins", [100, 300])
def test_a_jump_at_another_step_is_not_its(make_run, begins):
    report = slower_from_200_on(make_run, begins)
    assert report.causes == ()
    assert any("other cores were free" in note for note in report.notes)


def test_a_jump_that_the_training_thread_computes_is_not_its(make_run):
    report = slower_from_200_on(make_run, own=0.030)
    assert all("A thread of the program" not in cause.summary for cause in report.causes)

"""A finding is told once, and once when it is over or withdrawn."""

from __future__ import annotations

import json

from unit.jobs.looks import cause_of, look_of, stall_of

from tb_slowdown_plugin.jobs.notices import Notices, notice_body


def events_of(notices, *looks):
    return [(notice.event, notice.run, notice.cause) for notice in notices.update(looks)]


def test_a_finding_is_told_once_however_often_it_is_seen():
    notices = Notices()
    assert events_of(notices, look_of()) == []
    assert events_of(notices, look_of(causes=(cause_of(),))) == [("found", "run1", "retracing")]
    more = cause_of(seconds=60.0)
    assert events_of(notices, look_of(causes=(more,))) == []
    assert events_of(notices, look_of(causes=(more, cause_of("disk")))) == [
        ("found", "run1", "disk")
    ]


def test_a_small_cause_that_comes_and_goes_is_no_news():
    notices = Notices()
    for seconds in (1.2, 0.0, 1.3, 0.0, 1.4):  # of the 29 s since step 800
        causes = (cause_of(seconds=seconds),) if seconds else ()
        assert events_of(notices, look_of(causes=causes, verdict="slowdown")) == []
    assert events_of(notices, look_of(causes=(cause_of(seconds=1.6),))) == [
        ("found", "run1", "retracing")
    ]


def test_a_cause_counts_against_the_time_since_it_begins():
    late = cause_of(seconds=3.0, steps=(99_800, 100_000))
    look = look_of(causes=(late,), step=100_000, wall_seconds=14_500.0)
    assert events_of(Notices(), look) == [("found", "run1", "retracing")]
    early = cause_of(seconds=3.0, steps=(800, 100_000))
    look = look_of(causes=(early,), step=100_000, wall_seconds=14_500.0)
    assert events_of(Notices(), look) == []


def test_two_defects_of_one_cause_are_one_finding_until_both_are_past():
    notices = Notices()
    past = cause_of("callbacks", seconds=40.0, steps=(100, 300))
    lasting = cause_of("callbacks", seconds=20.0, steps=(800, 2000))
    (found,) = notices.update([look_of(causes=(past, lasting), step=2000)])
    assert (found.event, found.since_step, found.lost_seconds) == ("found", 800, 60.0)
    assert "1 min 0 s lost (60.0%)" in found.text
    for step in (2000, 2100, 2200):
        assert events_of(notices, look_of(causes=(past, lasting), step=step)) == []
    (over,) = notices.update([look_of(causes=(past, lasting), step=3000)])
    assert (over.event, over.lost_seconds) == ("over", 60.0)
    assert "since step 2,000 don't lose" in over.text
    assert events_of(notices, look_of(causes=(past, lasting), step=3100)) == []


def test_its_json_has_what_a_receiver_needs():
    (notice,) = Notices().update([look_of(causes=(cause_of(),))])
    body = json.loads(json.dumps(notice_body(notice)))
    assert body == {
        "schema": 1,
        "event": "found",
        "kind": "slowdown",
        "run": "run1",
        "cause": "retracing",
        "title": "Retracing",
        "since_step": 800,
        "since": None,
        "lost_seconds": 31.0,
        "lost_fraction": 0.31,
        "summary": "TensorFlow retraces `train_step`.",
        "fix": "Pass a tensor.",
        "headline": "31.0 s of 1 min 40 s lost (31%)",
        "text": "run1: Retracing since step 800, 31.0 s lost (31.0%). "
        "TensorFlow retraces `train_step`.",
    }


def test_a_finding_that_the_report_drops_is_withdrawn_once():
    notices = Notices()
    notices.update([look_of(causes=(cause_of(),))])
    (notice,) = notices.update([look_of()])
    assert (notice.event, notice.cause) == ("withdrawn", "retracing")
    assert notice.text == "run1: Retracing is withdrawn: the steps since do not confirm it."
    assert events_of(notices, look_of()) == []


def test_a_cause_that_costs_nothing_for_a_minute_is_over_and_may_come_back():
    notices = Notices()
    notices.update([look_of(causes=(cause_of(),))])
    assert events_of(notices, look_of(causes=(cause_of(),), step=1400)) == []  # 58 s
    assert events_of(notices, look_of(causes=(cause_of(),), step=1500)) == [
        ("over", "run1", "retracing")
    ]
    assert events_of(notices, look_of(causes=(cause_of(),), step=1600)) == []
    again = cause_of(steps=(800, 1700))
    assert events_of(notices, look_of(causes=(again,), step=1700)) == [
        ("found", "run1", "retracing")
    ]


def test_with_the_end_of_a_run_its_findings_are_over():
    notices = Notices()
    notices.update([look_of(causes=(cause_of(),))])
    (notice,) = notices.update([look_of(causes=(cause_of(seconds=40.0),), is_live=False)])
    assert (notice.event, notice.lost_seconds) == ("over", 40.0)
    assert notice.text.endswith("the run has ended.")


def test_runs_that_had_ended_before_and_slow_starts_are_no_news():
    notices = Notices()
    warm_up = cause_of("warm_up", pattern="warm_up")
    assert events_of(notices, look_of(causes=(cause_of(),), is_live=False)) == []
    assert events_of(notices, look_of("run2", (warm_up,), verdict="slow_start")) == []


def test_a_stall_is_told_when_it_begins_and_when_steps_end_again():
    notices = Notices()
    (begun,) = notices.update([look_of(stall=stall_of())])
    assert (begun.event, begun.kind, begun.since_step) == ("found", "stall", 1000)
    assert begun.text.startswith("run1: No step since 12:03:11 (4 min 10 s)")
    assert events_of(notices, look_of(stall=stall_of())) == []
    (ended,) = notices.update([look_of()])
    assert (ended.event, ended.kind) == ("over", "stall")


def test_a_long_save_is_no_stall():
    assert Notices().update([look_of(stall=stall_of("checkpoint"))]) == []


def test_a_run_that_can_not_be_read_for_a_while_is_not_told_anew():
    notices = Notices()
    notices.update([look_of(causes=(cause_of(),))])
    assert notices.update([]) == []
    assert notices.update([look_of(causes=(cause_of(),))]) == []

"""A finding is told when it lasts, and taken back when the longer run bears it out no more."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.announce import Watch, announce
from tb_slowdown_plugin.analysis.types import Baseline, Diagnosis, Finding, Ledger

STEP = 0.5


def finding(steps, source, pattern, first, last, seconds_each):
    lost = np.zeros(steps)
    lost[first : last + 1] = seconds_each
    return Finding(source, pattern, (first, last), float(lost.sum()), lost, "medium")


def diagnosis(steps, *findings):
    """A diagnosis of `steps` steps of half a second each with these findings."""
    lost = {}
    for each in findings:
        lost[each.source] = lost.get(each.source, 0.0) + each.lost_seconds
    wall = steps * STEP
    taken = sum((each.lost_per_step for each in findings), np.zeros(steps))
    return Diagnosis(
        verdict="slowdown" if findings else "healthy",
        baseline=Baseline(STEP, "the whole run", (0, steps - 1)),
        ledger=Ledger(wall, wall - sum(lost.values()), lost, 0.0),
        findings=findings,
        warm_up_rows=0,
        healthy_per_step=np.full(steps, STEP) - taken,
        unexplained_per_step=np.zeros(steps),
    )


def look(diagnosis, before):
    steps = len(diagnosis.healthy_per_step)
    return announce(diagnosis, np.arange(1000, 1000 + steps), before)


def told(diagnosis):
    return [(each.source, each.pattern) for each in diagnosis.findings]


def test_the_first_look_tells_all():
    one = diagnosis(1000, finding(1000, "core", "level_shift", 990, 999, 0.2))
    kept, watch = look(one, None)
    assert kept is one
    assert watch.sightings[0].is_told


def test_a_finding_is_told_at_the_second_look_that_sees_it():
    _, watch = look(diagnosis(1000), None)
    first, watch = look(diagnosis(1100, finding(1100, "gc", "drift", 800, 1099, 0.1)), watch)
    assert (told(first), first.verdict) == ([], "healthy")
    assert first.ledger.lost == {}
    assert first.ledger.healthy_seconds == pytest.approx(550.0)
    np.testing.assert_allclose(first.healthy_per_step, STEP)
    second, watch = look(diagnosis(1200, finding(1200, "gc", "drift", 800, 1199, 0.1)), watch)
    assert (told(second), second.verdict) == ([("gc", "drift")], "slowdown")
    assert second.ledger.lost == pytest.approx({"gc": 40.0})
    assert watch.taken_back == ()


@pytest.mark.parametrize(
    ("steps", "is_told"), [(1105, False), (1159, False), (1160, True)], ids=str
)
def test_a_look_counts_when_the_run_has_grown_by_30_s(steps, is_told):
    _, watch = look(diagnosis(1000), None)
    _, watch = look(diagnosis(1100, finding(1100, "gc", "drift", 800, 1099, 0.1)), watch)
    kept, _ = look(diagnosis(steps, finding(steps, "gc", "drift", 800, steps - 1, 0.1)), watch)
    assert bool(kept.findings) is is_told


def test_and_by_1_percent():
    size = 100_000
    _, watch = look(diagnosis(size), None)
    for steps, is_told in ((101_000, False), (102_000, False), (102_010, True)):
        kept, watch = look(
            diagnosis(steps, finding(steps, "gc", "drift", 90_000, steps - 1, 0.1)), watch
        )
        assert bool(kept.findings) is is_told


def test_between_two_looks_it_must_not_be_gone():
    seen = finding(2000, "core", "level_shift", 500, 999, 0.1)
    _, watch = look(diagnosis(1000), None)
    _, watch = look(diagnosis(2000, seen), watch)
    _, watch = look(diagnosis(3000), watch)
    kept, _ = look(diagnosis(4000, finding(4000, "core", "level_shift", 500, 999, 0.1)), watch)
    assert told(kept) == []


@pytest.mark.parametrize(
    ("last", "seconds", "is_told"),
    [(9198, 0.1, False), (9199, 0.1, True), (9004, 54.0, True)],
    ids=["199 steps", "200 steps", "5 % of the wall"],
)
def test_it_must_be_large(last, seconds, is_told):
    watch = Watch(9000, ())
    for steps in (10_000, 10_700):
        kept, watch = look(
            diagnosis(steps, finding(steps, "gc", "one_off", 9000, last, seconds)), watch
        )
    assert bool(kept.findings) is is_told


def test_a_told_finding_stays_whatever_its_pattern_is_called():
    _, watch = look(diagnosis(1000, finding(1000, "core", "level_shift", 500, 999, 0.1)), None)
    kept, watch = look(diagnosis(1010, finding(1010, "core", "drift", 400, 1009, 0.1)), watch)
    assert told(kept) == [("core", "drift")]
    assert watch.taken_back == ()


def test_what_does_not_last_is_taken_back_with_the_reason():
    _, watch = look(diagnosis(1000, finding(1000, "core", "level_shift", 900, 999, 0.1)), None)
    kept, watch = look(diagnosis(2000), watch)
    assert kept.verdict == "healthy"
    assert watch.taken_back == (
        "Taken back at step 2,999: a rise of the step's own time (10.0 s in steps "
        "1,900\N{EN DASH}1,999); "
        "it was 1.0 % of the run as it is now, and the steps since do not bear it out.",
    )
    _, watch = look(diagnosis(3000), watch)
    assert len(watch.taken_back) == 1


def test_what_another_account_explains_is_taken_back_with_its_name():
    _, watch = look(diagnosis(1000, finding(1000, "core", "level_shift", 500, 999, 0.1)), None)
    other = finding(1100, "contention:run_delay", "flat", 500, 1099, 0.1)
    _, watch = look(diagnosis(1100, other), watch)
    assert watch.taken_back == (
        "Taken back at step 2,099: a rise of the step's own time (50.0 s in steps "
        "1,500\N{EN DASH}1,999); "
        "these seconds now belong to contention.",
    )


def test_a_run_that_is_made_anew_is_looked_at_anew():
    _, watch = look(diagnosis(1000, finding(1000, "core", "level_shift", 500, 999, 0.1)), None)
    kept, watch = look(diagnosis(300, finding(300, "gc", "drift", 0, 299, 0.1)), watch)
    assert told(kept) == [("gc", "drift")]
    assert watch.taken_back == ()


def test_only_the_last_sentences_are_kept():
    watch = Watch(10, (), tuple("abcdefg"))
    _, watch = look(diagnosis(1000), watch)
    assert watch.taken_back == tuple("cdefg")


def test_the_engine_watched_while_a_run_slows_down():
    random = np.random.default_rng(3)
    step = np.exp(random.normal(np.log(0.1), 0.03, 20_000))
    step[8000:] *= 1.3
    watch, first_told = None, None
    for steps in range(2000, 20_001, 500):
        found, watch = announce(diagnose(step[:steps]), np.arange(steps), watch)
        if found.findings and first_told is None:
            first_told = steps
    assert watch is not None
    assert first_told is not None
    assert 8500 <= first_told <= 9500
    assert [each.pattern for each in watch.sightings] == ["level_shift"]
    assert watch.taken_back == ()

"""A finding of a live run is confirmed when it lasts, and withdrawn when it no longer holds."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.live.hysteresis import LiveState, confirm
from tb_slowdown_plugin.analysis.types import (
    Baseline,
    Diagnosis,
    Finding,
    Ledger,
)

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
    return confirm(diagnosis, np.arange(1000, 1000 + steps), before)


def shift(steps, first=800, last=None, each=0.1):
    """A diagnosis with a level shift of the core."""
    last = steps - 1 if last is None else last
    return diagnosis(steps, finding(steps, "core", "level_shift", first, last, each))


def confirmed(result):
    return [(each.source, each.pattern) for each in result.diagnosis.findings]


def test_the_first_look_confirms_everything():
    one = shift(1000, 990)
    result = look(one, None)
    assert result.diagnosis is one
    assert (result.pending, result.remaining_seconds) == ((), 0.0)
    assert result.state.sightings[0].is_confirmed


def test_a_fitted_finding_is_pending_at_first_and_its_seconds_are_never_healthy():
    state = look(diagnosis(1000), None).state
    first = look(shift(1020), state)
    assert (confirmed(first), first.diagnosis.verdict) == ([], "healthy")
    assert [each.source for each in first.pending] == ["core"]
    assert first.remaining_seconds == 15.0
    ledger = first.diagnosis.ledger
    assert (ledger.lost, ledger.unexplained_seconds) == ({}, pytest.approx(22.0))
    assert ledger.healthy_seconds == pytest.approx(510.0 - 22.0)
    second = look(shift(1055), first.state)
    assert (confirmed(second), second.diagnosis.verdict) == ([("core", "level_shift")], "slowdown")
    assert second.diagnosis.ledger.lost == pytest.approx({"core": 25.5})
    assert (second.pending, second.state.withdrawn) == ((), ())


@pytest.mark.parametrize(
    ("source", "pending"),
    [
        ("input_wait", False),
        ("callback:Slow", False),
        ("tracing:again", False),
        ("contention:throttled", False),
        ("core", True),
        ("contention:run_delay", True),
        ("communication:in turn", True),
    ],
)
def test_what_clocks_timed_needs_no_second_look(source, pending):
    state = look(diagnosis(1000), None).state
    result = look(diagnosis(1010, finding(1010, source, "drift", 1000, 1009, 0.2)), state)
    assert bool(result.pending) is pending


def test_a_slow_start_needs_no_second_look():
    state = look(diagnosis(10), None).state
    result = look(diagnosis(100, finding(100, "core", "warm_up", 0, 3, 0.2)), state)
    assert result.pending == ()


@pytest.mark.parametrize(("steps", "is_confirmed"), [(1129, False), (1130, True)], ids=str)
def test_it_must_last_15_s(steps, is_confirmed):
    state = look(diagnosis(1000), None).state
    state = look(shift(1100), state).state
    assert bool(confirmed(look(shift(steps), state))) is is_confirmed


def test_in_a_long_run_the_run_must_grow_by_1_percent_or_the_loss_double():
    size = 100_000
    for lost_each, steps_of_looks in (
        (0.1, (101_000, 101_500, 102_010)),
        (0.2, (101_000, 101_500)),
    ):
        state = look(diagnosis(size), None).state
        state = look(shift(101_000, 90_000, each=0.1), state).state
        looks = []
        for steps in steps_of_looks[1:]:
            result = look(shift(steps, 90_000, each=lost_each), state)
            looks.append(bool(confirmed(result)))
            state = result.state
        assert looks == ([False, True] if lost_each == 0.1 else [True])


def test_between_two_looks_it_must_not_be_gone():
    state = look(diagnosis(1000), None).state
    state = look(shift(2000, 500, 999), state).state
    state = look(diagnosis(3000), state).state
    assert confirmed(look(shift(4000, 500, 999), state)) == []


def test_a_confirmed_finding_stays_whatever_its_pattern_is_called():
    state = look(shift(1000, 500), None).state
    result = look(diagnosis(1010, finding(1010, "core", "drift", 400, 1009, 0.1)), state)
    assert confirmed(result) == [("core", "drift")]
    assert result.state.withdrawn == ()


def test_what_does_not_last_is_withdrawn_with_the_reason():
    state = look(shift(1000, 900), None).state
    result = look(diagnosis(2000), state)
    assert result.diagnosis.verdict == "healthy"
    assert result.state.withdrawn == (
        "Withdrawn at step 2,999: a rise of the step's own time (10.0 s in steps "
        "1,900\N{EN DASH}1,999); "
        "it was 1.0% of the run as it is now, and the steps since do not confirm it.",
    )
    assert len(look(diagnosis(3000), result.state).state.withdrawn) == 1


def test_seconds_that_change_their_source_stay_confirmed():
    state = look(shift(1000, 500), None).state
    other = finding(1010, "contention:run_delay", "flat", 500, 1009, 0.1)
    result = look(diagnosis(1010, other), state)
    assert confirmed(result) == [("contention:run_delay", "flat")]
    assert result.state.withdrawn == (
        "Withdrawn at step 2,009: a rise of the step's own time (50.0 s in steps "
        "1,500\N{EN DASH}1,999); "
        "these seconds now belong to contention.",
    )


def test_seconds_that_change_their_source_do_not_wait_anew():
    state = look(diagnosis(1000), None).state
    state = look(shift(1100), state).state
    other = diagnosis(1130, finding(1130, "contention:run_delay", "flat", 800, 1129, 0.1))
    assert confirmed(look(other, state)) == [("contention:run_delay", "flat")]


def test_nor_if_their_source_keeps_a_few_of_them():
    wait = finding(1100, "input_wait", "level_shift", 800, 1099, 0.1)
    state = look(diagnosis(1100, wait), look(diagnosis(1000), None).state).state
    rest = finding(1110, "input_wait", "level_shift", 800, 1109, 0.02)
    other = finding(1110, "contention:starved", "drift", 700, 1109, 0.08)
    result = look(diagnosis(1110, other, rest), state)
    assert result.pending == ()
    assert result.state.withdrawn == ()


def test_a_new_finding_in_the_rows_of_another_that_goes_on_waits():
    old = finding(1000, "gc", "periodic", 0, 999, 0.01)
    state = look(diagnosis(1000, old), None).state
    both = (
        finding(1100, "gc", "periodic", 0, 1099, 0.01),
        finding(1100, "core", "drift", 0, 1099, 0.1),
    )
    result = look(diagnosis(1100, *both), state)
    assert (confirmed(result), len(result.pending)) == ([("gc", "periodic")], 1)


def test_another_run_with_the_same_name_is_looked_at_as_new():
    state = look(shift(1000, 500), None).state
    result = look(diagnosis(300, finding(300, "core", "drift", 0, 299, 0.1)), state)
    assert confirmed(result) == [("core", "drift")]
    assert result.state.withdrawn == ()


def test_only_the_last_sentences_are_kept():
    state = look(diagnosis(1000), LiveState(10, (), tuple("abcdefg"))).state
    assert state.withdrawn == tuple("cdefg")


def test_the_engine_watched_while_a_run_slows_down():
    random = np.random.default_rng(3)
    step = np.exp(random.normal(np.log(0.1), 0.03, 20_000))
    step[8000:] *= 1.3
    state, seen, sure = None, None, None
    for steps in range(2000, 20_001, 250):
        result = confirm(diagnose(step[:steps]), np.arange(steps), state)
        state = result.state
        seen = seen or (steps if result.pending else None)
        sure = sure or (steps if result.diagnosis.findings else None)
    assert state is not None
    assert (seen, sure) == (8500, 8750)
    assert [each.pattern for each in state.sightings] == ["level_shift"]
    assert state.withdrawn == ()

"""Two groups of runs: differences are told from chance, and add up."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[4]))  # `benchmarks` is not installed

from benchmarks.comparison.drawn import count_outcomes, ledger
from tb_slowdown_plugin.analysis.compare.comparison import compare, decisive, exceeds
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term, ledger_of
from tb_slowdown_plugin.analysis.compare.run_noise import Chance, t_quantile
from tb_slowdown_plugin.analysis.compare.setting_changes import SettingChange
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog.parameters.views import ALARM_RATE


def run(
    seconds: float,
    *,
    quiet: float | None = None,
    terms: dict[str, float] | None = None,
    items: float | None = None,
    warm_up: float = 0.0,
    settings: dict[str, str] | None = None,
) -> RunLedger:
    parts = {"healthy": seconds - sum((terms or {}).values()), **(terms or {})}
    return RunLedger(
        run="run",
        steps=1000,
        step=Term(seconds, 0.0),
        quiet=Term(seconds if quiet is None else quiet, 0.0),
        terms={name: Term(value, 0.0) for name, value in parts.items()},
        warm_up_seconds=warm_up,
        items_per_step=items,
        settings=settings or {},
    )


@pytest.mark.parametrize("repeats", [1, 2, 3, 5])
@pytest.mark.parametrize("spread", [0.02, 0.05])
def test_equal_programs_raise_at_most_one_alarm_in_200(repeats: int, spread: float) -> None:
    counts = count_outcomes(2_000, repeats, spread=spread, slower=0.0, seed=23)
    assert counts["slower"] + counts["faster"] <= 2_000 / 200 * 1.5, counts  # chance, too
    assert counts["no_difference"] > 500


@pytest.mark.parametrize("spread", [0.02, 0.04])
def test_a_fifth_is_found_with_three_repeats_a_side(spread: float) -> None:
    counts = count_outcomes(1_000, 3, spread=spread, slower=0.2, seed=23)
    assert counts["slower"] >= 0.94 * 1_000, counts  # 95%, and chance


def disturbed(seconds: float, busy: float) -> RunLedger:
    """A run that other programs made longer, half of it unexplained."""
    terms = {"cpu_contention": busy / 2, "unexplained": busy / 2}
    return run(seconds + busy, quiet=seconds, terms=terms)


def test_busy_neighbours_of_some_runs_are_no_difference_of_the_program() -> None:
    calm = [disturbed(0.1, 0.0), disturbed(0.101, 0.002), disturbed(0.1, 0.001)]
    busy = [disturbed(0.101, 0.015), disturbed(0.1, 0.05), disturbed(0.1, 0.025)]
    assert compare(calm, busy).outcome == "not_enough_repeats"
    assert compare([run(0.1)] * 3, [run(0.13)] * 3).outcome == "slower"


@pytest.mark.parametrize(
    ("theirs", "outcome"), [(0.008, "not_enough_repeats"), (0.001, "slower"), (0.0, "slower")]
)
def test_a_difference_that_is_mostly_other_programs_is_no_alarm(
    theirs: float, outcome: str
) -> None:
    base = [run(0.020, quiet=0.018) for _ in range(3)]
    with_neighbours = [run(0.030, quiet=0.0185, terms={"cpu_contention": theirs}) for _ in range(3)]
    comparison = compare(base, with_neighbours)
    assert (comparison.outcome, comparison.total.outcome) == (outcome, outcome)


def test_the_faster_half_of_the_steps_tells_where_the_mean_is_too_disturbed() -> None:
    base = [disturbed(0.1, 0.0), disturbed(0.101, 0.04), disturbed(0.1, 0.01)]
    other = [disturbed(0.12, 0.05), disturbed(0.121, 0.0), disturbed(0.12, 0.02)]
    comparison = compare(base, other)
    assert comparison.total.outcome == "not_enough_repeats"
    assert comparison.outcome == "slower"
    assert decisive(comparison) is comparison.quiet
    assert comparison.quiet.fraction == pytest.approx(0.2, abs=0.01)
    assert exceeds(comparison, 19.0)
    assert not exceeds(comparison, 21.0)


def test_the_faster_half_never_overrules_the_mean() -> None:
    """Stalls that are gone make up for steps that are longer: the time moved."""
    base = [run(0.12, quiet=0.1)] * 3
    assert compare(base, [run(0.12, quiet=0.12)] * 3).outcome == "no_difference"
    assert compare(base, [run(0.1, quiet=0.12)] * 3).outcome == "faster"


def test_faster_steps_between_more_stalls_are_no_gain() -> None:
    """As of a program that collects garbage: the mean is unsure, and points the other way."""
    other = [
        run(seconds, quiet=0.05, terms={"garbage_collection": seconds - 0.05})
        for seconds in (0.07, 0.12, 0.17)
    ]
    stalls = compare([run(0.1)] * 3, other)
    assert stalls.quiet.outcome == "faster"
    assert stalls.outcome == "not_enough_repeats"


def test_the_faster_half_of_a_run_is_blind_to_its_stalls() -> None:
    seconds = np.random.default_rng(1).normal(0.1, 0.005, 400)
    stalled = seconds.copy()
    stalled[::7] += 0.5
    assert ledger(stalled).quiet.seconds == pytest.approx(ledger(seconds).quiet.seconds, rel=0.02)
    assert ledger(stalled).step.seconds > 1.5 * ledger(seconds).step.seconds


def test_the_gain_of_a_change_is_found_too() -> None:
    comparison = compare([run(0.13)] * 3, [run(0.1)] * 3)
    assert comparison.outcome == "faster"
    assert comparison.total.fraction == pytest.approx(-0.03 / 0.13)
    assert not exceeds(comparison, 0.0)


def test_terms_add_up_to_the_total_and_the_slower_one_is_named() -> None:
    base = [run(0.1, terms={"input_pipeline": 0.01})] * 3
    other = [run(0.15, terms={"input_pipeline": 0.01, "retracing": 0.05})] * 3
    comparison = compare(base, other)
    assert comparison.outcome == "slower"
    assert exceeds(comparison, 49.0)
    assert not exceeds(comparison, 51.0)
    differences = {term.term: term.difference_seconds for term in comparison.terms}
    assert sum(differences.values()) == pytest.approx(comparison.total.difference_seconds)
    assert comparison.terms[0].term == "retracing"
    assert {term.term: term.outcome for term in comparison.terms} == {
        "retracing": "slower",
        "healthy": "no_difference",
        "input_pipeline": "no_difference",
    }


def test_what_leaves_one_term_for_another_has_moved_and_is_no_alarm() -> None:
    comparison = compare([run(0.1)] * 3, [run(0.1, terms={"input_pipeline": 0.03})] * 3)
    assert comparison.outcome == "no_difference"
    assert [term.outcome for term in comparison.terms] == ["moved", "moved"]


def test_a_difference_that_chance_could_make_asks_for_repeats() -> None:
    comparison = compare([run(0.1)], [run(0.11)])
    assert comparison.outcome == "not_enough_repeats"
    assert comparison.spread_fraction is None
    assert comparison.repeats_wanted == 5
    (note,) = comparison.notes
    assert note.startswith("One run a side")


def test_so_many_repeats_as_it_asks_for_do_tell() -> None:
    def repeats(level: float, count: int) -> list[RunLedger]:
        return [run(level * (1 + 0.04 * (-1) ** index)) for index in range(count)]

    wanted = compare(repeats(0.1, 4), repeats(0.11, 4)).repeats_wanted
    assert wanted is not None
    assert 4 < wanted < 8
    assert compare(repeats(0.1, wanted), repeats(0.11, wanted)).outcome == "slower"


def test_fewer_repeats_are_wanted_where_the_faster_half_would_tell() -> None:
    busy = compare([disturbed(0.1, 0.05)], [disturbed(0.115, 0.05)])
    same = compare([disturbed(0.1, 0.05)], [disturbed(0.1, 0.065)])
    assert busy.outcome == same.outcome == "not_enough_repeats"
    assert busy.repeats_wanted is not None
    assert same.repeats_wanted is not None
    assert busy.repeats_wanted <= 3 < same.repeats_wanted


def test_repeats_that_differ_widely_widen_the_interval() -> None:
    calm = compare([run(0.1)] * 3, [run(0.12)] * 3)
    wild = compare([run(0.08), run(0.1), run(0.12)], [run(0.1), run(0.12), run(0.14)])
    assert calm.outcome == "slower"
    assert wild.outcome == "not_enough_repeats"
    assert calm.spread_fraction == pytest.approx(0.0)
    assert wild.spread_fraction == pytest.approx(0.2)
    assert wild.notes[0].startswith("Repeats of one side differ by 20%. From 5% on")


def test_a_small_effect_is_no_difference_however_sure() -> None:
    assert compare([run(0.1)] * 50, [run(0.1025)] * 50).outcome == "no_difference"


def test_more_items_a_step_are_no_slowdown() -> None:
    comparison = compare([run(0.1, items=32.0)] * 3, [run(0.2, items=64.0)] * 3)
    assert comparison.unit == "item"
    assert comparison.outcome == "no_difference"
    assert comparison.total.base_seconds == pytest.approx(0.1 / 32)


def test_warm_up_is_a_matter_of_the_run_and_not_of_its_steps() -> None:
    comparison = compare([run(0.1, warm_up=2.0)] * 3, [run(0.1, warm_up=30.0)] * 3)
    assert comparison.outcome == "no_difference"
    assert comparison.warm_up.difference_seconds == 28.0
    assert comparison.warm_up.outcome == "slower"


def test_other_versions_are_said() -> None:
    comparison = compare(
        [run(0.1, settings={"tensorflow": "2.20.0"})] * 2,
        [run(0.1, settings={"tensorflow": "2.21.0"})] * 2,
    )
    assert comparison.settings == (SettingChange("tensorflow", "2.20.0", "2.21.0"),)


def test_a_stall_is_not_taken_for_the_program() -> None:
    """A/A: 20 s of one run were a neighbour's; the steps are those of the same program."""
    quiet = np.random.default_rng(1).normal(0.1, 0.005, 400)
    stalled = quiet.copy()
    stalled[200] += 20.0
    assert compare([ledger(quiet)], [ledger(stalled)]).outcome == "not_enough_repeats"


def test_a_run_that_grows_is_as_sure_as_one_that_does_not() -> None:
    """The error of a mean sees noise, not the program's own drift."""
    noise = np.random.default_rng(1).normal(0.0, 0.005, 2000)
    flat, growing = ledger(0.1 + noise), ledger(np.linspace(0.05, 0.15, 2000) + noise)
    assert growing.step.error_seconds < 0.02 * growing.step.seconds
    assert flat.step.error_seconds < growing.step.error_seconds < 20 * flat.step.error_seconds


@pytest.mark.parametrize(
    ("degrees", "exact"),
    [(1, 127.321), (2, 14.089), (3, 7.453), (4, 5.598), (5, 4.773), (12, 3.428), (30, 3.030)],
)
def test_the_quantile_is_that_of_the_tables(degrees: int, exact: float) -> None:
    assert t_quantile(1 - ALARM_RATE / 2, degrees) == pytest.approx(exact, abs=0.001)


def test_the_margin_follows_the_repeats_only_as_far_as_they_agree() -> None:
    def margin(seen: float, **more: float) -> float:
        return Chance(seen=seen, degrees=4, within=0.0, scale=1.0, **more).margin(3, 3)

    assert margin(0.0) == margin(0.005)  # three can agree by luck
    assert margin(0.01) == pytest.approx(8.610 * 0.01 * (2 / 3) ** 0.5, rel=1e-3)
    assert margin(0.02) == margin(0.05)  # too few to be sure: what is assumed
    assert margin(0.1) == pytest.approx(2 * margin(0.05))
    assert margin(0.05, disturbed=0.12) == pytest.approx(2.6 * margin(0.05))


def test_a_ledger_holds_the_run_to_the_second(make_run) -> None:
    random = np.random.default_rng(3)
    waits = np.where(np.arange(600) >= 300, 0.05, 0.0)
    recorded = make_run(
        random.normal(0.1, 0.002, 600) + waits, accounts={"input_wait": waits.tolist()}
    )
    account = account_for(recorded)
    found = ledger_of(recorded, account)
    assert found.terms["input_pipeline"].seconds * 600 == pytest.approx(15.0, rel=0.05)
    assert sum(term.seconds for term in found.terms.values()) == pytest.approx(found.step.seconds)
    whole = found.step.seconds * 600 + found.warm_up_seconds
    assert whole == pytest.approx(account.report.wall_seconds)


@pytest.mark.parametrize("other", [0.0, 0.0005])
def test_a_timed_term_that_one_side_does_not_have_is_told_with_one_run_a_side(other: float) -> None:
    slow = replace(run(0.2, terms={"retracing": 0.1}), timed=frozenset({"retracing"}))
    fast = run(0.1, terms={"retracing": other} if other else None)
    (term,) = (one for one in compare([fast], [slow]).terms if one.term == "retracing")
    assert term.outcome == "slower"
    assert term.interval_seconds[0] > 0
    (term,) = (one for one in compare([slow], [fast]).terms if one.term == "retracing")
    assert term.outcome == "faster"


def test_a_term_that_was_fitted_or_that_both_have_is_not_certain() -> None:
    fitted = run(0.12, terms={"retracing": 0.02})
    (term,) = (one for one in compare([run(0.1)], [fitted]).terms if one.term == "retracing")
    assert term.outcome == "not_enough_repeats"
    both = [
        replace(run(0.1 + part, terms={"retracing": part}), timed=frozenset({"retracing"}))
        for part in (0.01, 0.02)
    ]
    (term,) = (one for one in compare([both[0]], [both[1]]).terms if one.term == "retracing")
    assert term.outcome == "not_enough_repeats"


def test_a_timed_term_is_told_where_the_whole_step_is_not() -> None:
    """The step differs by too little to tell; that the seconds are new is certain."""
    slow = replace(run(0.11, terms={"retracing": 0.01}), timed=frozenset({"retracing"}))
    found = compare([run(0.1)], [slow])
    assert found.outcome == "not_enough_repeats"
    assert {term.term: term.outcome for term in found.terms}["retracing"] == "slower"

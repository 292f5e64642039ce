"""Draws the runs, judges them, and prints the table."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.accuracy.defects import PATTERNS, draw_defect
from benchmarks.accuracy.quiet import FAMILIES, SPECIAL, draw_length, draw_quiet
from benchmarks.accuracy.rivals import find_by_kernel, is_slower_by_rule
from benchmarks.accuracy.score import Score, interval, quantile, score

FROZEN_SEED = 90_217
"""The test set, drawn once the engine was frozen; tuning was done on seeds 1, 3, 5, 7 and 9."""


def main() -> None:
    """Prints the accuracy of the engine on synthetic runs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs with each defect")
    parser.add_argument("--healthy", type=int, default=100, help="healthy runs of each family")
    parser.add_argument("--seed", type=int, default=FROZEN_SEED)
    parser.add_argument("--only", default="", help="defects or families, separated by commas")
    parser.add_argument("--show", action="store_true", help="print each run that went wrong")
    options = parser.parse_args()
    only = [each for each in options.only.split(",") if each]
    defects = [each for each in PATTERNS if not only or each in only]
    families = [each for each in (*FAMILIES, *SPECIAL) if not only or each in only]
    scores = [
        _try_defect(defect, options.seed, index, show=options.show)
        for defect in defects
        for index in range(options.runs)
    ]
    healthy = [
        _try_quiet(family, options.seed, index, show=options.show)
        for family in families
        for index in range(options.healthy)
    ]
    if scores:
        _print_defects(scores, healthy)
        _print_confidence(scores)
        _print_companions(scores)
    if healthy:
        _print_healthy(healthy)
    if not only:
        _print_rivals(options.seed, min(options.runs, 60))


def draw_random(seed: int, name: str, index: int) -> np.random.Generator:
    """The random numbers of one run, whatever else is drawn."""
    return np.random.default_rng([seed, *name.encode(), index])


def _try_defect(defect: str, seed: int, index: int, *, show: bool) -> Score:
    run = draw_defect(draw_random(seed, defect, index), defect)
    result = score(run)
    if show and (not result.found or result.false_patterns):
        print(f"{defect} {index} ({run.family}, {result.steps} steps): {result}")
    return result


def _try_quiet(family: str, seed: int, index: int, *, show: bool) -> Score:
    random = draw_random(seed, family, index)
    # Half of them short: that is where false alarms are.
    count = draw_length(random, 300, 3000) if index % 2 else draw_length(random, 3000, 30_000)
    result = score(draw_quiet(random, family, count))
    result.run = family
    if show and result.false_patterns:
        print(f"{family} {index} ({result.steps} steps): {result}")
    return result


def _share(hits: int, trials: int) -> str:
    low, high = interval(hits, trials)
    return f"{hits / trials if trials else float('nan'):.3f} ({low:.3f}-{high:.3f})"


def _print_defects(scores: list[Score], healthy: list[Score]) -> None:
    print(
        "| defect | runs | recall (95 %) | precision of its pattern (95 %) | first right | "
        "misplaced, % of run, p50 / p99 | error of lost seconds, p50 / p90 | "
        "wrong blame, % of wall, p95 |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for defect in dict.fromkeys(each.run for each in scores):
        mine = [each for each in scores if each.run == defect]
        pattern = PATTERNS[defect][0]
        hits = sum(each.found for each in mine)
        same = [each for each in scores if PATTERNS[each.run][0] == pattern]
        true = sum(each.found for each in same)
        false = sum(pattern in each.false_patterns for each in scores + healthy)
        first = sum(each.top_right for each in mine) / len(mine)
        misplaced = [100 * each.misplaced for each in mine]
        errors = [each.seconds_error for each in mine]
        blame = quantile([100 * each.wrong_blame for each in mine], 0.95)
        print(
            f"| {defect} | {len(mine)} | {_share(hits, len(mine))} | "
            f"{_share(true, true + false)} | {first:.3f} | "
            f"{quantile(misplaced, 0.5):.2f} / {quantile(misplaced, 0.99):.2f} | "
            f"{quantile(errors, 0.5):.3f} / {quantile(errors, 0.9):.3f} | {blame:.2f} |"
        )
    print()


def _print_confidence(scores: list[Score]) -> None:
    print("| confidence | findings | right (95 %) |")
    print("|---|---|---|")
    named = [each for one in scores for each in one.named]
    for confidence in dict.fromkeys(word for word, _ in sorted(named)):
        right = [is_right for word, is_right in named if word == confidence]
        print(f"| {confidence} | {len(right)} | {_share(sum(right), len(right))} |")
    print()


def _print_companions(scores: list[Score]) -> None:
    print("| signal | called a companion of a shift | of a drift (a suspect at most) |")
    print("|---|---|---|")
    drifts = [name for name, (pattern, _) in PATTERNS.items() if pattern == "drift"]
    groups = [
        [each for each in scores if each.run in names and not each.account]
        for names in (["shift"], drifts)
    ]
    for signal in ("true_jump", "decoy_jump", "decoy_walk", "decoy_growth"):
        shares = [
            _share(sum(signal in one.companions for one in mine), len(mine)) for mine in groups
        ]
        print(f"| {signal} | {' | '.join(shares)} |")
    print()


def _print_healthy(healthy: list[Score]) -> None:
    print("| healthy family | runs | runs with a finding (95 %) | unexplained, % of wall, p95 |")
    print("|---|---|---|---|")
    groups = {
        family: [each for each in healthy if each.run == family]
        for family in dict.fromkeys(each.run for each in healthy)
    }
    groups["300 to 3,000 steps"] = [each for each in healthy if each.steps <= 3000]
    groups["more than 3,000 steps"] = [each for each in healthy if each.steps > 3000]
    groups["all"] = healthy
    for name, mine in groups.items():
        alarms = sum(bool(each.false_patterns) for each in mine)
        unexplained = quantile([100 * each.unexplained for each in mine], 0.95)
        print(f"| {name} | {len(mine)} | {_share(alarms, len(mine))} | {unexplained:.2f} |")
    print()


def _print_rivals(seed: int, runs: int) -> None:
    print(
        "| on the same runs | shift found within 1 % of the run | drift called a change of level | "
        "healthy runs with an alarm |"
    )
    print("|---|---|---|---|")
    kernel = {"shift": 0, "drift": 0, "healthy": 0}
    rule = dict(kernel)
    available = True
    for index in range(runs):
        run = draw_defect(draw_random(seed, "shift", index), "shift")
        cuts = find_by_kernel(run.step_seconds())
        available = available and cuts is not None
        near = [abs(cut - run.onset) <= 0.01 * len(run.base) for cut in cuts or ()]
        kernel["shift"] += any(near)
        rule["shift"] += is_slower_by_rule(run.step_seconds())
        run = draw_defect(draw_random(seed, "drift", index), "drift")
        kernel["drift"] += bool(find_by_kernel(run.step_seconds()))
        rule["drift"] += is_slower_by_rule(run.step_seconds())
        family = list(FAMILIES)[index % len(FAMILIES)]
        seconds = draw_quiet(draw_random(seed, family, index), family).step_seconds()
        kernel["healthy"] += bool(find_by_kernel(seconds))
        rule["healthy"] += is_slower_by_rule(seconds)
    if available:
        row = [_share(kernel[each], runs) for each in ("shift", "drift", "healthy")]
        print("| ruptures KernelCPD (rbf) |", " | ".join(row), "|")
    else:
        print("| ruptures KernelCPD (rbf) | not installed: pip install ruptures |||")
    print(
        f"| last tenth 20 % slower than first | {_share(rule['shift'], runs)} (says no place) | "
        f"does not tell apart | {_share(rule['healthy'], runs)} |"
    )


if __name__ == "__main__":
    main()

"""Sentences on experiments: which one counts for a cause, and what is said of it."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.trial_text import (
    describe_others,
    describe_speedup,
    describe_trial,
    rank_advice,
    trial_of,
)
from tb_slowdown_plugin.records.trials import Trial


def trial(name: str, low: float, high: float, *tests: str) -> Trial:
    middle = (low * high) ** 0.5
    return Trial(name, (middle, 1.0), middle, (low, high), None, "no", "", tests, 86400.0 * 365)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((1.0, 1.2), "too uncertain to tell (1 to 1.2)"),
        ((0.8, 1.0), "no difference (0.8 to 1)"),
        ((1.01, 1.2), "times faster (1.01 to 1.2)"),
        ((0.25, 0.5), "times slower (2 to 4)"),
        ((1.24, 3440.2), "times faster (1.24 to 3,440)"),
    ],
)
def test_a_difference_is_told_only_where_the_interval_excludes_1(
    interval: tuple[float, float], said: str
) -> None:
    assert describe_speedup((interval[0] * interval[1]) ** 0.5, interval).endswith(said)


def test_an_experiment_confirms_or_was_tried() -> None:
    assert describe_trial(trial("prefetch", 1.5, 2.0)).startswith("confirmed: 1.73 times faster")
    assert describe_trial(trial("prefetch", 0.9, 1.1)) == (
        "tried: too uncertain to tell (0.9 to 1.1) with prefetch, on 1971-01-01"
    )


def test_a_patch_is_named_as_that() -> None:
    said = describe_trial(trial("patch_retracing", 1.5, 2.0))
    assert said == "confirmed: 1.73 times faster (1.5 to 2) with its patch, tried on 1971-01-01"


def test_the_surest_speed_up_of_a_cause_is_shown() -> None:
    weak, strong = (
        trial("prefetch", 1.2, 3.0, "input_pipeline"),
        trial("free", 1.8, 1.9, "input_pipeline"),
    )
    other = trial("xla", 5.0, 6.0)
    found = trial_of("input_pipeline", [weak, strong, other])
    assert found is not None
    assert found.experiment == "free"
    assert found.text == describe_trial(strong)
    assert trial_of("disk", [weak, strong, other]) is None


PREFETCH = Advice("Prefetch.", "+ ds = ds.prefetch(tf.data.AUTOTUNE)")
CACHE = Advice("Cache.", "+ ds = ds.cache()")


def texts(*trials: Trial, advice: tuple[Advice, ...] = (CACHE, PREFETCH)) -> list[str]:
    return [each.text for each in rank_advice("input_pipeline", advice, trials)]


def test_what_was_proved_comes_first() -> None:
    assert texts(trial("prefetch", 1.2, 1.3, "input_pipeline")) == ["Prefetch.", "Cache."]


@pytest.mark.parametrize(("low", "high"), [(0.98, 1.02), (0.5, 0.6)])
def test_what_did_not_help_comes_last_and_says_so(low: float, high: float) -> None:
    first, last = texts(trial("prefetch", low, high, "input_pipeline"), advice=(PREFETCH, CACHE))
    assert first == "Cache."
    assert last.startswith("Prefetch. Tried on 1971-01-01: ")


@pytest.mark.parametrize(
    "unrelated",
    [
        trial("prefetch", 0.5, 2.0, "input_pipeline"),
        trial("prefetch", 0.98, 1.02, "disk"),
        trial("input_free", 0.98, 1.02, "input_pipeline"),
        trial("patch_input_pipeline", 0.98, 1.02, "input_pipeline"),
    ],
    ids=["unsure", "another cause", "no advice of its own", "a patch"],
)
def test_other_experiments_leave_the_order(unrelated: Trial) -> None:
    assert texts(unrelated) == ["Cache.", "Prefetch."]


def test_code_to_remove_is_no_advice_to_add_it() -> None:
    removed = Advice("Less.", "- ds = ds.prefetch(tf.data.AUTOTUNE)\n+ ds = ds.prefetch(2)")
    found = trial("prefetch", 0.98, 1.02, "input_pipeline")
    assert texts(found, advice=(removed, CACHE)) == ["Less.", "Cache."]


def test_what_no_cause_shows_is_told_with_the_fastest_first() -> None:
    trials = (
        trial("xla", 1.2, 1.3),
        trial("gc_frozen", 0.98, 1.02, "garbage_collection"),
        trial("input_free", 3.0, 4.0, "input_pipeline"),
        trial("prefetch", 2.0, 3.0, "input_pipeline"),
    )
    found = [each.split()[1] for each in describe_others(trials, ["input_pipeline"])]
    assert found == ["prefetch", "xla", "gc_frozen"]
    found = [each.split()[1] for each in describe_others(trials, [])]
    assert found == ["input_free", "prefetch", "xla", "gc_frozen"]

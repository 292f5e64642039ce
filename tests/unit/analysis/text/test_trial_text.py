"""Sentences on experiments: which one counts for a cause, and what is said of it."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.text.trial_text import (
    describe_speedup,
    describe_trial,
    trial_of,
)
from tb_slowdown_plugin.records.trials import Trial


def trial(name: str, low: float, high: float, *tests: str) -> Trial:
    middle = (low * high) ** 0.5
    return Trial(name, (middle, 1.0), middle, (low, high), None, "no", "", tests, 86400.0 * 365)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((1.0, 1.2), "no difference (1 to 1.2)"),
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
        "tried: no difference (0.9 to 1.1) with prefetch, on 1971-01-01"
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

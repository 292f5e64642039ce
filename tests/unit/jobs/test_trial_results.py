"""What an experiment confirms, and the JSON of all."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.catalog.experiments import EXPERIMENTS
from tb_slowdown_plugin.jobs.experiments import Outcome
from tb_slowdown_plugin.jobs.speedup import Speedup
from tb_slowdown_plugin.jobs.trial_results import to_trial, trials_body

FASTER = Speedup(0.2, 0.1, 2.0, 1.9, 2.1)
SAME = Speedup(0.1, 0.1, 1.0, 0.98, 1.02)
SUMMARIES = EXPERIMENTS["no_summaries"]


@pytest.mark.parametrize(
    ("speedup", "causes", "confirms"),
    [
        (FASTER, ["disk", "callbacks"], "disk"),
        (FASTER, ["thermal", "callbacks"], "callbacks"),
        (FASTER, [], None),
        (SAME, ["disk"], None),
        (Speedup(0.1, 0.2, 0.5, 0.4, 0.6), ["disk"], None),
    ],
)
def test_the_largest_cause_that_it_tests_is_confirmed_where_steps_are_faster(
    speedup: Speedup, causes: list[str], confirms: str | None
) -> None:
    trial = to_trial(Outcome(SUMMARIES, speedup), causes, 5.0)
    assert trial is not None
    assert trial.confirms == confirms
    assert trial.tests == ("callbacks", "disk")


def test_without_a_result_there_is_no_trial() -> None:
    assert to_trial(Outcome(SUMMARIES, None, "no summary"), ["disk"], 5.0) is None


def test_the_json_has_the_keys_of_the_contract() -> None:
    trial = to_trial(Outcome(SUMMARIES, FASTER), ["disk"], 5.0)
    assert trial is not None
    body = trials_body([trial], [("xla", "no XLA")])
    assert body["schema"] == 1
    assert body["untried"] == [{"experiment": "xla", "reason": "no XLA"}]
    (experiment,) = body["experiments"]
    assert experiment == {
        "experiment": "no_summaries",
        "step_seconds": (0.2, 0.1),
        "speedup": 2.0,
        "interval": (1.9, 2.1),
        "confirms": "disk",
        "changes_results": "no",
        "adopt": SUMMARIES.adopt,
        "tests": ("callbacks", "disk"),
        "tried_at": 5.0,
        "text": "",
    }

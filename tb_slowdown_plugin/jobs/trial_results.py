"""Results of experiments, kept beside the run whose causes they test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tb_slowdown_plugin.jobs.experiments import Outcome
from tb_slowdown_plugin.reader.trials import read_trials, trials_file
from tb_slowdown_plugin.reader.whole_files import replace_file
from tb_slowdown_plugin.records.trials import Trial


def to_trial(outcome: Outcome, causes: Sequence[str], tried_at: float) -> Trial | None:
    """The result of an experiment; None where there is none.

    Args:
      outcome: What came of it.
      causes: Of the run, largest first.
      tried_at: Unix seconds.
    """
    found, experiment = outcome.speedup, outcome.experiment
    if found is None:
        return None
    tested = (cause for cause in causes if cause in experiment.causes)
    return Trial(
        experiment=experiment.name,
        step_seconds=(found.before_seconds, found.after_seconds),
        speedup=found.ratio,
        interval=(found.low, found.high),
        confirms=next(tested, None) if found.low > 1 else None,
        changes_results=experiment.changes_results,
        adopt=experiment.adopt,
        tests=experiment.causes,
        tried_at=tried_at,
    )


def trials_body(trials: Sequence[Trial], untried: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The JSON of `tbslow try`.

    Args:
      trials: Those with a result.
      untried: Name and reason of the others.
    """
    return {
        "schema": 1,
        "experiments": [asdict(trial) for trial in trials],
        "untried": [{"experiment": name, "reason": reason} for name, reason in untried],
    }


def keep_trials(logdir: Path, run: str, trials: Sequence[Trial]) -> None:
    """Writes results; earlier ones of the same run stay where no new one takes their place."""
    names = {trial.experiment for trial in trials}
    kept = [trial for trial in read_trials(logdir, run) if trial.experiment not in names]
    file = trials_file(logdir, run)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, json.dumps(trials_body([*kept, *trials], []), indent=2).encode())

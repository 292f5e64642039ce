"""Reads what `tbslow try` has left beside a run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tb_slowdown_plugin.records.metadata import DIRECTORY, ROOT_RUN
from tb_slowdown_plugin.records.trials import FILE, Trial


def trials_file(logdir: Path, run: str) -> Path:
    """Where the experiments of a run are kept.

    Example:
      >>> trials_file(Path("logs"), "run1").as_posix(), trials_file(Path("logs"), ".").as_posix()
      ('logs/run1/slowdown/experiments.json', 'logs/slowdown/experiments.json')
    """
    folder = logdir if run == ROOT_RUN else logdir / run
    return folder / DIRECTORY / FILE


def trials_version(logdir: Path, run: str) -> tuple[int, int] | None:
    """Another one when the experiments of a run are others; None where there are none."""
    try:
        found = trials_file(logdir, run).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def read_trials(logdir: Path, run: str) -> tuple[Trial, ...]:
    """The experiments of a run; () where there are none, or the file is damaged."""
    try:
        body = json.loads(trials_file(logdir, run).read_text(encoding="utf-8"))
        return tuple(_trial(each) for each in body["experiments"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _trial(body: dict[str, Any]) -> Trial:
    confirms = body["confirms"]
    return Trial(
        experiment=str(body["experiment"]),
        step_seconds=_pair(body["step_seconds"]),
        speedup=_positive(body["speedup"]),
        interval=_pair(body["interval"]),
        confirms=None if confirms is None else str(confirms),
        changes_results=str(body["changes_results"]),
        adopt=str(body["adopt"]),
        tests=tuple(map(str, body.get("tests", ()))),
        tried_at=_positive(body["tried_at"]),
    )


def _pair(values: Any) -> tuple[float, float]:
    first, second = values
    return _positive(first), _positive(second)


def _positive(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{value!r} is not a positive number")
    return number

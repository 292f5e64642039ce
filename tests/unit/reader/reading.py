"""A logdir read as the command reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.text.coverage import completeness
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run


class Reading:
    def __init__(self, logdir: Path | str, run: str | None = None) -> None:
        self.warnings: list[str] = []
        self.progress: list[tuple[int, int]] = []
        found = read_runs(
            str(logdir),
            run=run,
            warn=self.warnings.append,
            progress=lambda done, total: self.progress.append((done, total)),
        )
        self.runs = {run.name: run for run in found}

    def only(self) -> Run:
        (run,) = self.runs.values()
        return run


def refusal(logdir: Path | str, run: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        Reading(logdir, run)
    text = str(caught.value)
    assert "\n" not in text
    return text


def missing(run: Run) -> int:
    return completeness(run)["missing_chunks"]

"""Sources with a defect, what a run of them records, and patches applied by git and by patch."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import numpy as np

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause, Place
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.source_lines import (
    FILE_HASH,
    HASH,
    SOURCE_LINE,
    hash_file,
    hash_line,
)
from tb_slowdown_plugin.records.types import Environment, Event, Fact, StepTable, What, no_signals
from tb_slowdown_plugin.report.patches.diff import unified_diff
from tb_slowdown_plugin.report.patches.finder import Fix, find_fixes, patched_files


@dataclass
class Program:
    """One file, and what a run of it recorded."""

    folder: Path
    text: str
    cause: str
    name: str = "train.py"
    events: list[What] = field(default_factory=list)
    accounts: Mapping[str, float] = field(default_factory=dict)
    place: Place | None = None
    advice: tuple[Advice, ...] = ()
    recorded: Run | None = None
    """Of the file as it was; None if it did not change."""

    def __post_init__(self) -> None:
        self.text = dedent(self.text)
        self.path = self.folder / self.name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.text.encode())

    def line(self, part: str, nth: int = 0) -> int:
        """The number of a line with this text."""
        found = [n for n, each in enumerate(self.text.split("\n"), 1) if part in each]
        return found[nth]

    def saw(self, *events: What, **accounts: float) -> Program:
        self.events += events
        self.accounts = {**self.accounts, **accounts}
        return self

    @property
    def run(self) -> Run:
        lines = enumerate(self.text.split("\n"), 1)
        whole = hash_file(self.text)
        hashes = [
            Fact(SOURCE_LINE, f"{self.name}:{number}", {HASH: hash_line(line), FILE_HASH: whole})
            for number, line in lines
            if line.strip()
        ]
        events = tuple(Event(0, 0.0, what) for what in (*self.events, *hashes))
        accounts = {name: np.full(4, seconds) for name, seconds in self.accounts.items()}
        return Run(".", _steps(accounts), no_signals(), events, Environment(), ())

    def fix(self) -> Fix:
        """What is found against the cause."""
        (found,) = find_fixes(
            self.recorded or self.run, _report(self.cause, self.place, self.advice), self.folder
        )
        return found

    def patched(self) -> str:
        """The new text: as the edits make it, `git apply`, and `patch -p1`."""
        fix = self.fix()
        assert fix.patches, fix.refusals
        ((source, text),) = patched_files([fix])
        diff = unified_diff(source, text)
        for number, command in enumerate((["git", "apply", "-"], ["patch", "-s", "-p1"])):
            top = self.folder.with_name(f"{self.folder.name}-copy{number}")
            copy = top / self.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(self.path.read_bytes())
            subprocess.run(command, input=diff, cwd=top, check=True, capture_output=True)
            assert copy.read_bytes() == text.encode(source.encoding), command
        compile(text.removeprefix("\ufeff"), self.name, "exec")
        return text

    def changed(self) -> list[str]:
        """The new lines that are not in the old text, and behind "-" those that are gone."""
        before, after = self.text.split("\n"), self.patched().split("\n")
        gone = [f"-{line.strip()}" for line in _missing(before, after)]
        return gone + [line.strip() for line in _missing(after, before)]

    def refusals(self) -> str:
        fix = self.fix()
        assert not fix.patches
        return " ".join(fix.refusals)


def _missing(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    left = list(others)
    missing = []
    for line in lines:
        if line in left:
            left.remove(line)
        else:
            missing.append(line)
    return missing


def _steps(accounts: Mapping[str, np.ndarray]) -> StepTable:
    number = np.arange(4)
    second = np.ones(4)
    kind = np.zeros(4, np.int64)
    return StepTable(
        number, second, second, second, second, second, second, kind, ("step",), accounts
    )


def _report(cause: str, place: Place | None = None, advice: tuple[Advice, ...] = ()) -> Report:
    found = Cause(cause, 2.0, 0.5, "flat", "high", (0, 3), "", (), advice, place=place)
    return Report(
        run=".",
        verdict="slowdown",
        headline="",
        steps=4,
        wall_seconds=4.0,
        healthy_step_seconds=0.5,
        baseline="",
        lost_seconds=2.0,
        lost_fraction=0.5,
        unexplained_seconds=0.0,
        causes=(found,),
        suspects=(),
        workers=(),
        signals=(),
        completeness={},
    )

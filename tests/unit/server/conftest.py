"""A plugin over runs made in memory, asked through TensorBoard's own WSGI application."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import event_files
import numpy as np
import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.analysis.live.hysteresis import LiveState
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.reader.extent import Extent, extent_of
from tb_slowdown_plugin.reader.run_store import Listing, Seen
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.server.plugin import SlowdownPlugin
from tb_slowdown_plugin.server.runs import Runs

with warnings.catch_warnings():  # TensorBoard's copy of bleach warns about itself
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensorboard.backend import application

NOW = event_files.STARTED + 1000.0


def make_run(name: str, steps: int) -> Run:
    return Run(
        name=name,
        steps=event_files.make_steps(steps),
        signals=no_signals(),
        events=(),
        environment=Environment(),
        sessions=(Session("0123abcd", 0, event_files.STARTED, 1, 0),),
    )


def make_account(run: Run) -> RunAccount:
    """An account of a run in which nothing was lost."""
    seconds = run.steps.period_seconds
    return RunAccount(
        report=Report(
            run=run.name,
            verdict="healthy",
            headline="Healthy",
            steps=len(run.steps),
            wall_seconds=float(seconds.sum()),
            healthy_step_seconds=float(np.median(seconds)) if len(seconds) else None,
            baseline="all steps",
            lost_seconds=0.0,
            lost_fraction=0.0,
            unexplained_seconds=0.0,
            causes=(),
            suspects=(),
            workers=(),
            signals=(),
            completeness={"chunks": 1, "missing_chunks": 0},
        ),
        healthy_per_step=seconds,
        lost_per_step={"unexplained": np.zeros(len(seconds))},
        change_points=(),
    )


@dataclass
class MemorySource:
    """Runs in memory; `grow` makes one longer, as a reload does."""

    runs: dict[str, Run] = field(default_factory=dict)
    other_runs: int = 0
    listings: int = 0
    reads: list[str] = field(default_factory=list)
    reading: dict[str, float] = field(default_factory=dict)
    parts: dict[str, Run] = field(default_factory=dict)
    """What comes first in the runs that take long to read."""

    def grow(self, name: str, steps: int) -> None:
        self.runs[name] = make_run(name, steps)

    def listing(self) -> Listing:
        self.listings += 1
        return Listing(
            {name: Seen(len(run.steps), NOW - 5.0) for name, run in self.runs.items()},
            self.other_runs,
        )

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        return {name: extent_of(self.runs[name]) for name in names if name in self.runs}

    def run(self, name: str) -> Run:
        self.reads.append(name)
        return self.runs[name]

    def first_part(self, name: str) -> Run | None:
        part = self.parts.get(name)
        return part if name in self.reading else None

    def progress(self, name: str) -> float | None:
        return self.reading.get(name)


@dataclass
class Clock:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source() -> MemorySource:
    source = MemorySource(other_runs=3)
    source.grow("run1", 400)
    source.grow("nested/run2", 20)
    return source


@pytest.fixture
def account_of() -> Callable[[Run], RunAccount]:
    return make_account


@pytest.fixture
def runs(source: MemorySource, clock: Clock) -> Runs:
    def follow(run: Run, before: LiveState | None) -> tuple[RunAccount, LiveState]:
        return make_account(run), LiveState(len(run.steps), ())

    return Runs(source, follow, clock=clock)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Where a built frontend is."""
    static = tmp_path / "static"
    static.mkdir()
    for name in ("index.js", "report.js"):
        (static / name).write_text("async function draw() {}\nexport { draw as render };\n")
    (static / "below.js").write_text('import "./index.js";\n')
    return static


@pytest.fixture
def wsgi_app() -> Callable[..., Any]:
    """Makes TensorBoard's application out of flags and loaders."""
    return application.TensorBoardWSGIApp


@pytest.fixture
def client_of(page: Path) -> Callable[[Runs], Client]:
    def client_of(runs: Runs) -> Client:
        return Client(application.TensorBoardWSGI([SlowdownPlugin(runs, page)]))

    return client_of


@pytest.fixture
def client(runs: Runs, client_of: Callable[[Runs], Client]) -> Client:
    return client_of(runs)

"""Recorded trainings that turned 50% slower, record by record: what a live reader is told.

The recordings were made by `benchmarks/live_slowdown.py --keep`. A record is read 6 s after it was
written at most (TensorBoard's reload, and our list), and looked at then: the clock is the record's.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest
from integration.live_answers import CAUSES, JUDGED_SECONDS, NAMED_SECONDS, contradictions_in
from integration.recorded_programs import RECORDINGS
from live_replay import Snapshot, replay

LIVE = Path(__file__).parents[1] / "live_recordings"
READ_SECONDS = 6.0
HEALTHY = [
    folder
    for folder in sorted(RECORDINGS.iterdir())
    if folder.name.endswith("_healthy") or folder.name.startswith("control")
]

_replayed: dict[str, list[Snapshot]] = {}


def snapshots_of(kind: str) -> list[Snapshot]:
    """What is said of a recording after each record; made once."""
    if kind not in _replayed:
        _replayed[kind] = replay(LIVE / kind)
    return _replayed[kind]


def changed(kind: str) -> float:
    """Unix seconds at which the training got slower."""
    return float(json.loads((LIVE / kind / "change.json").read_text())["changed"])


@pytest.mark.parametrize("kind", CAUSES)
def test_no_answer_is_healthy_once_it_is_slower(kind: str) -> None:
    late = [
        shown.live.headline
        for shown in snapshots_of(kind)
        if shown.until + READ_SECONDS > changed(kind) + JUDGED_SECONDS
        and shown.live.verdict != "slowdown"
    ]
    assert late == []
    # Nor before the record that follows the next one is there: each answer is held until then.
    held = [
        after.until + READ_SECONDS - changed(kind)
        for before, after in pairwise(snapshots_of(kind))
        if before.live.verdict != "slowdown" and after.until > changed(kind)
    ]
    assert max(held, default=0.0) <= JUDGED_SECONDS


@pytest.mark.parametrize("kind", CAUSES)
def test_its_cause_is_named_in_time(kind: str) -> None:
    named = [
        shown.until + READ_SECONDS - changed(kind)
        for shown in snapshots_of(kind)
        if shown.until > changed(kind)
        and CAUSES[kind] in {cause.cause for cause in shown.live.causes}
    ]
    assert min(named) <= NAMED_SECONDS


@pytest.mark.parametrize("kind", CAUSES)
def test_figures_agree_in_each_answer_and_the_wall_never_falls(kind: str) -> None:
    reports = [shown.live for shown in snapshots_of(kind)]
    assert [found for report in reports for found in contradictions_in(asdict(report))] == []
    walls = [report.wall_seconds for report in reports]
    assert walls == sorted(walls)
    for report in reports:
        assert report.as_of is None or report.as_of.step + 1 == report.steps


def test_healthy_programs_are_blamed_no_more_often_than_finished_ones() -> None:
    """Of 205 snapshots 15 are a slowdown for either, and 3 name a cause."""
    live, finished = [], []
    for folder in HEALTHY:
        snapshots = replay(folder)
        for shown in snapshots:
            place = f"{folder.name} at step {shown.live.steps}"
            live += [place] if shown.live.verdict == "slowdown" else []
            finished += [place] if shown.finished.verdict == "slowdown" else []
            causes = [{each.cause for each in r.causes} for r in (shown.live, shown.finished)]
            assert causes[0] <= causes[1], place
        # Of several workers the first record may be another's; `server/runs.py` waits then.
        walls = [shown.live.wall_seconds for shown in snapshots if not shown.run.workers]
        assert walls == sorted(walls), folder.name
    assert live == finished
    assert len(live) <= 15

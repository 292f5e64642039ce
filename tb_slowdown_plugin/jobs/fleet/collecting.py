"""From logdirs to the tables of a fleet: lists, takes what is known, judges the rest."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.dispatch import judge_all
from tb_slowdown_plugin.jobs.fleet.executors import Pool
from tb_slowdown_plugin.reader.stored_runs import StoredRun, list_runs
from tb_slowdown_plugin.report.fleet.columns import Rows
from tb_slowdown_plugin.report.fleet.tables import (
    FleetTables,
    join_tables,
    make_tables,
    name_teams,
    still_known,
)

_ROWS_AT_ONCE: Final = 4096
"""Rows that are kept as Python objects, 3 kB each, until they are put into a table."""
_SAVE_SECONDS: Final = 300.0

Save = Callable[[FleetTables], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a call asks for."""

    logdirs: Sequence[str]
    since: float | None = None
    """Unix seconds; runs whose newest file is older are left out."""


def find_runs(wish: Wish, warn: Callable[[str], None]) -> list[StoredRun]:
    """The runs of all logdirs; one that is in two of them belongs to the first.

    Raises:
      InputError: None of the logdirs can be listed.
    """
    found: list[StoredRun] = []
    refusals: list[InputError] = []
    seen: set[str] = set()
    for logdir in dict.fromkeys(wish.logdirs):
        try:
            listed = _list(logdir, warn)
        except InputError as refused:
            refusals.append(refused)
            continue
        home = logdir.rstrip("/") if "://" in logdir else str(Path(logdir).expanduser().resolve())
        for run in listed:
            files = tuple(file for file in run.files if f"{home}/{file.name}" not in seen)
            seen.update(f"{home}/{file.name}" for file in files)
            if files and (wish.since is None or run.modified >= wish.since):
                found.append(replace(run, files=files))
    if refusals and len(refusals) == len(set(wish.logdirs)):
        raise refusals[0]
    for refusal in refusals:
        warn(str(refusal))
    return found


def _list(logdir: str, warn: Callable[[str], None]) -> list[StoredRun]:
    try:
        return list_runs(logdir, warn)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"can't read '{logdir}': {error}. s3:// needs s3fs, gs:// needs gcsfs"
        ) from error


def collect(
    runs: Sequence[StoredRun],
    previous: FleetTables | None,
    pool: Pool,
    memory_bytes: int,
    *,
    team: re.Pattern[str] | None,
    progress: Callable[[int, int], None],
    save: Save,
    clock: Callable[[], float] = time.monotonic,
) -> FleetTables:
    """The tables of some runs.

    Args:
      runs: From `find_runs`.
      previous: Of an earlier call; runs that did not change are taken from it.
      pool: Where the others are judged.
      memory_bytes: What a worker may take.
      team: See `name_teams`.
      progress: Told how many runs are judged, and of how many.
      save: Gets what there is every five minutes, and when it is interrupted.
      clock: Seconds.
    """
    parts = [make_tables([], [])]
    known: set[int] = set()
    if previous is not None:
        kept, known = still_known(previous, runs)
        parts.append(kept)
    unknown = [run for place, run in enumerate(runs) if place not in known]
    progress(0, len(unknown))
    saved = clock()

    def tables() -> FleetTables:
        return name_teams(join_tables(parts), team)

    try:
        for done, part in _in_parts(judge_all(unknown, pool, memory_bytes), progress, len(unknown)):
            parts.append(part)
            if done < len(unknown) and clock() - saved > _SAVE_SECONDS:
                save(tables())
                saved = clock()
    except KeyboardInterrupt:
        save(tables())
        raise
    return tables()


def _in_parts(
    judged: Iterator[Rows], progress: Callable[[int, int], None], total: int
) -> Iterator[tuple[int, FleetTables]]:
    """How many runs are judged, and their rows, some at a time; at an interrupt what there is."""
    runs, causes, done = [], [], 0
    try:
        for rows in judged:
            runs += rows.runs
            causes += rows.causes
            done += 1
            progress(done, total)
            if len(runs) >= _ROWS_AT_ONCE:
                yield done, make_tables(runs, causes)
                runs, causes = [], []
    except KeyboardInterrupt:
        yield done, make_tables(runs, causes)
        raise
    yield done, make_tables(runs, causes)

"""How far a run has come, told from its first records and its last ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.build.join import is_stopped
from tb_slowdown_plugin.reader.build.record_batch import Record, session_of
from tb_slowdown_plugin.records.decoding import Reach, decode_reach
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.run import Run


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a run has come."""

    workers: int
    steps: int
    """Of the chief, in all sessions."""
    first_step: int | None
    last_step: int | None
    started: float
    """Unix seconds; NaN where it is not known."""
    is_ended: bool = False
    """Whether the monitor of its last process was stopped."""


def extent_of(run: Run) -> Extent:
    """The extent of a run that has been read."""
    number = run.steps.number
    return Extent(
        workers=1 + len(run.workers),
        steps=len(number) * run.steps_per_row,
        first_step=int(number[0]) if len(number) else None,
        last_step=int(number[-1]) if len(number) else None,
        started=min((session.started for session in run.sessions), default=math.nan),
        is_ended=run.is_ended,
    )


def end_tags(tags: Iterable[str]) -> set[str]:
    """Of a TensorBoard run's tags the first and the last of each session.

    >>> sorted(end_tags(["slowdown/1f3a/0", "slowdown/1f3a/1", "slowdown/1f3a/10"]))
    ['slowdown/1f3a/0', 'slowdown/1f3a/10']
    """
    by_session: dict[str | None, list[str]] = {}
    for tag in tags:
        by_session.setdefault(session_of(tag), []).append(tag)
    return {
        end
        for of_session in by_session.values()
        for end in (min(of_session, key=_number), max(of_session, key=_number))
    }


def extent_from(records: Iterable[Record]) -> Extent | None:
    """The extent of a run of which only the ends of each session were read.

    Args:
      records: Those of the tags that `end_tags` names; each session's in order.

    Returns:
      None where all must be read: a record is damaged, or an end has no step.
    """
    by_session: dict[tuple[int, str | None], list[Record]] = {}
    for record in records:
        key = run_name(record.tensorboard_run)[1], session_of(record.tag)
        by_session.setdefault(key, []).append(record)
    try:
        ends = {key: _ends(of_session) for key, of_session in by_session.items()}
    except DecodeError:
        return None
    if not ends:
        return None
    chief = min(worker for worker, _ in ends)
    found = [end for (worker, _), end in ends.items() if worker == chief]
    found.sort(key=lambda end: end[0].started)
    with_steps = [end for end in found if len(end[1].numbers)]
    if len(with_steps) < len(found) and any(last.first_row for _, last, _ in found):
        return None
    return Extent(
        workers=len({worker for worker, _ in ends}),
        steps=sum(last.first_row + len(last.numbers) for _, last, _ in with_steps),
        first_step=int(with_steps[0][0].numbers[0]) if with_steps else None,
        last_step=int(with_steps[-1][1].numbers[-1]) if with_steps else None,
        started=found[0][0].started,
        is_ended=found[-1][2],
    )


def _ends(records: list[Record]) -> tuple[Reach, Reach, bool]:
    """The first and the last record with steps, or the first and the last where none has any.

    And whether the session's monitor was stopped.
    """
    first, newest = _first_with_steps(records), decode_reach(records[-1].payload)
    last = newest if len(newest.numbers) else _first_with_steps(records[::-1])
    return first, last, is_stopped(newest.events)


def _first_with_steps(records: list[Record]) -> Reach:
    reach = found = decode_reach(records[0].payload)
    for record in records[1:]:
        if len(found.numbers):
            return found
        found = decode_reach(record.payload)
    return found if len(found.numbers) else reach


def _number(tag: str) -> int:
    number = tag.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdecimal() else 0

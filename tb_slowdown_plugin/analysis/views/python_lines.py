"""Which lines of the program a step spends its time in, before and now, by samples of its stack."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import reduce
from typing import Final, NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import (
    ends_of,
    place_of,
    step_seconds_of,
)
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    samples_of,
    stack_sets,
)
from tb_slowdown_plugin.analysis.report_types.observations import PythonLine, PythonLines
from tb_slowdown_plugin.records.run import Run

_MOST_LINES: Final = 8


class _Set(NamedTuple):
    """Samples that were told in a step."""

    rows: tuple[int, int]
    """The rows in which they were taken, inclusive."""
    of: float
    samples: Mapping[str, float]
    """Place -> samples there."""

    def share(self, place: str) -> float:
        """Of the samples; 0 where the place was not seen."""
        return self.samples.get(place, 0.0) / self.of


def find_python_lines(run: Run) -> PythonLines | None:
    """The first samples against the newest ones; None where there is none."""
    sets = _sets(run)
    if not sets:
        return None
    first, last = (reduce(_joined, each) for each in ends_of(sets))
    earlier = first if len(sets) > 1 else None
    took = step_seconds_of(run, last.rows)
    took_before = step_seconds_of(run, first.rows)
    lines = [
        PythonLine(
            place=place,
            location=_location(place),
            before_fraction=earlier.share(place) if earlier else None,
            after_fraction=last.share(place),
            before_seconds=earlier.share(place) * took_before if earlier else None,
            after_seconds=last.share(place) * took,
        )
        for place in {**last.samples, **first.samples}
    ]
    lines.sort(key=lambda line: -max(line.after_seconds, line.before_seconds or 0.0))
    kept = sorted(lines[:_MOST_LINES], key=lambda line: -_growth(line))
    return PythonLines(
        before_steps=_numbers(run, earlier) if earlier else None,
        before_samples=int(earlier.of) if earlier else 0,
        after_steps=_numbers(run, last),
        after_samples=int(last.of),
        lines=tuple(kept),
    )


def _joined(first: _Set, last: _Set) -> _Set:
    samples = Counter(first.samples) + Counter(last.samples)
    return _Set((first.rows[0], last.rows[1]), first.of + last.of, samples)


def _growth(line: PythonLine) -> float:
    return line.after_seconds - (line.before_seconds or 0.0)


def _sets(run: Run) -> list[_Set]:
    samples: dict[int, defaultdict[str, float]] = {}
    of: defaultdict[int, float] = defaultdict(float)
    end = len(run.steps) - 1
    for told in stack_sets(run) if end >= 0 else []:
        row = min(told.row, end)  # a long step may have several
        if told.row > end and row in samples:
            continue  # it is of what comes after the last step
        of[row] += told.of
        here = samples.setdefault(row, defaultdict(float))
        for fact in told.facts:
            here[place_of(fact)] += samples_of(fact)
    rows = [row for row in sorted(samples) if of[row] > 0]
    return [
        _Set((begin, row), of[row], samples[row])
        for begin, row in zip([0, *rows], rows, strict=False)
    ]


def _numbers(run: Run, of: _Set) -> tuple[int, int]:
    first, last = of.rows
    return int(run.steps.number[first]), int(run.steps.number[last])


def _location(place: str) -> str:
    found = to_place(place)
    return f"{found.file}:{found.line}" if found else ""

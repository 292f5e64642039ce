"""Steps that the program's own files or locks hold up: which line, and for how long.

The monitor looks at slow steps from outside, two to five times a second: it sees all that last
longer, and a part of those that don't. What a step took beyond its neighbors is the price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    find_training_unit,
    stack_sets,
    times_inside,
    unit_of,
)
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.events import SLOW_STEP
from tb_slowdown_plugin.catalog.parameters.prepare import (
    LIKE_SEEN,
    MOSTLY_WRITING,
    SEEN_OF_ALIKE,
    STEPS_AROUND,
    WRITTEN_BYTES,
)
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MAJORITY, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact, Float, Int


class SlowStep(NamedTuple):
    """A step that was seen to be slow."""

    row: int
    place: str
    """Function and line: "log (train.py:41)"."""
    family: str
    """The account of what it was seen to do: FILE_WRITE, CONNECTION, WAIT; "" of neither."""
    is_seen: bool = True
    """Not only had something been written when it was over."""


def find_slow_steps(run: Run, measured: Mapping[str, Float]) -> list[SlowStep]:
    """The slow steps that the monitor looked at.

    Args:
      run: The recording.
      measured: Account -> (S,) seconds.
    """
    told = run.facts(SLOW_STEP)
    if not told:
        return []
    period = run.steps.period_seconds
    # While a step waits for its input, whoever makes it computes.
    clocked = {n: each for n, each in measured.items() if names.family(n) != names.INPUT_WAIT}
    left = left_over(run, clocked)
    idle = is_idle(run, left)
    saved = _bytes_of_savers(run)
    found = []
    for seen_at, what in told:
        row = seen_at - round(what.numbers.get("ago", 0.0))
        if 0 < row <= len(period):  # a step may end between the look and the record of it
            row -= int(row == len(period) or period[row - 1] > period[row])
            own = what.numbers.get("written_bytes", 0.0) - saved[row]
            alone = period[row] - left[row] < MOSTLY_WRITING * period[row]
            is_savers = saved[row] >= WRITTEN_BYTES > own
            much = alone and own >= WRITTEN_BYTES
            if much or (what.numbers.get("writes") and not is_savers):
                family = names.FILE_WRITE
            else:
                family = _family_of_wait(what, is_idle=bool(idle[row]))
            is_seen = bool(what.numbers.get("writes")) or family != names.FILE_WRITE
            found.append(SlowStep(row, what.subject, family, is_seen))
    return found


def _bytes_of_savers(run: Run) -> defaultdict[int, float]:
    """Row -> bytes of the checkpoints in that step, which have clocks of their own."""
    saved: defaultdict[int, float] = defaultdict(float)
    for row, what in run.facts("checkpoint"):
        saved[row] += what.numbers.get("bytes", 0.0)
    return saved


def _family_of_wait(what: Fact, *, is_idle: bool) -> str:
    if what.numbers.get(stack_samples.WAITS_OUTSIDE):
        return names.CONNECTION
    return names.WAIT if waits_in(what, is_idle=is_idle) else ""


def is_idle(run: Run, seconds: Float) -> NDArray[np.bool_]:
    """(S,) whether the process hardly computed in so many seconds of each step."""
    return np.asarray(run.steps.process_cpu_seconds < IDLE_CORES * seconds)


def waits_in(fact: Fact, *, is_idle: bool) -> float:
    """How often the training thread was seen to pause or to wait for another, of what a fact tells.

    A line of the program's own may also wait for what other threads compute for it: then the
    process is not idle.
    """
    alone = fact.numbers.get(stack_samples.WAITS_ALONE, 0.0) if is_idle else 0.0
    sure = (stack_samples.WAITS_INSIDE, stack_samples.WAITS_PAUSED)
    return alone + sum(fact.numbers.get(each, 0.0) for each in sure)


def with_slow_lines(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each line that writes files, or waits, of the program's own."""
    training = find_training_unit(stack_sets(run))  # seen where a look came late, in any step
    slow = _of_the_writer(find_slow_steps(run, measured), training)
    seen: dict[str, list[SlowStep]] = defaultdict(list)
    for each in slow:
        seen[unit_of(each.place)].append(each)
    lines = {
        names.account(family, _most_seen(steps)): {each.row for each in steps}
        for steps in seen.values()
        if (family := _family_of(steps))
    }
    if not lines:
        return dict(measured)
    core = left_over(run, measured)
    excess = _excess(core, np.array(sorted({each.row for each in slow})))
    made = dict(measured)
    other = {each.row for each in slow if unit_of(each.place) != training}
    for account, of_place in lines.items():
        rows = np.array(sorted(of_place))
        column = np.zeros(len(core))
        column[rows] = excess[rows]
        sampled = sum(each.seconds for each in times_inside(run, names.detail(account)))
        alike = _alike(excess, rows, other - of_place, sampled)
        column[alike] = excess[alike]
        made[account] = column
    return made


def _of_the_writer(slow: list[SlowStep], training: str) -> list[SlowStep]:
    """The steps, those that were seen too late with the one line that was seen to write.

    The graph runs again by then, and what was written tells that it is such a step.
    """
    late = [
        each
        for each in slow
        if unit_of(each.place) == training and each.family == names.FILE_WRITE and not each.is_seen
    ]
    writers = Counter(
        each.place
        for each in slow
        if unit_of(each.place) != training and each.family == names.FILE_WRITE and each.is_seen
    )
    if not late or len({unit_of(place) for place in writers}) != 1:
        return slow
    place, _ = writers.most_common(1)[0]
    return [each._replace(place=place) if each in late else each for each in slow]


def _family_of(steps: Sequence[SlowStep]) -> str:
    """What most of the slow steps of a line do; "" where they do nothing that is known."""
    family, seen = Counter(each.family for each in steps).most_common(1)[0]
    return family if seen >= MOSTLY_WRITING * len(steps) else ""


def _most_seen(steps: Sequence[SlowStep]) -> str:
    return Counter(each.place for each in steps).most_common(1)[0][0]


def _alike(excess: Float, seen: Int, others: set[int], sampled_seconds: float) -> Int:
    """Rows as slow as those that were seen, where those are no small part of them.

    Or where samples of the stack say that about as much passed in that function as all of them
    took: of a few slow steps a look from outside may miss half.
    """
    usual = float(np.median(excess[seen]))
    low, high = usual / LIKE_SEEN, usual * LIKE_SEEN
    rows = np.flatnonzero((excess >= low) & (excess <= high)) if usual > 0 else seen[:0]
    hit = np.intersect1d(rows, seen)
    is_sure = len(seen) >= SEVERAL and len(hit) >= SEEN_OF_ALIKE * len(rows)
    took = float(excess[rows].sum())
    is_sampled = MAJORITY * took <= sampled_seconds <= took / MAJORITY
    if others.intersection(rows.tolist()) or not (is_sure or is_sampled):
        return seen[:0]
    return rows


def _excess(core: Float, slow: Float) -> Float:
    """(S,) seconds of each step beyond the median of its neighbors that were not seen slow."""
    known = core.copy()
    known[slow] = np.nan
    padded = np.pad(known, STEPS_AROUND, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * STEPS_AROUND + 1)
    excess = np.zeros(len(core))
    rows = np.flatnonzero(core >= float(np.median(core)))
    usual = np.nanmedian(windows[rows], axis=1)
    excess[rows] = np.maximum(np.nan_to_num(core[rows] - usual), 0.0)
    return excess

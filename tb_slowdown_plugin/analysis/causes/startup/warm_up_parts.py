"""The warm-up account: what each mechanism took, in order of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import CORE, Case
from tb_slowdown_plugin.analysis.types import CausePart, Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.account_titles import account_title
from tb_slowdown_plugin.records.types import Float

FIRST_BATCH: Final = names.account(names.INPUT_WAIT, names.FIRST)
_ORDER: Final = (FIRST_BATCH, names.TRACING, names.FIRST_EXECUTION)
"""Within a step one waits first, then builds the graph, then runs it."""
_WORDS: Final = {
    FIRST_BATCH: ("First batch: buffers fill", "measured"),
    names.INPUT_WAIT: ("First pass: cold reads", "measured, above later passes"),
    names.TRACING: ("Building graphs", "measured"),
    names.FIRST_EXECUTION: ("Graph optimisation, compiling", "first run less a steady one"),
    CORE: ("Rest: variables, kernels, memory", "remainder, not split"),
}
_LEAST_SECONDS: Final = 1e-6
"""Steps are recorded to the microsecond."""


def parts_of(case: Case, claimed: Iterable[Finding]) -> tuple[CausePart, ...]:
    """Splits the seconds of a warm-up by mechanism.

    The wait for the run's very first batch stands apart from that for the rest of the first
    pass: shuffle and prefetch buffers fill in the one, files are cold in the other.

    Args:
      case: The run.
      claimed: The findings that are warm-up.
    """
    lost: dict[str, Float] = defaultdict(lambda: np.zeros(len(case.run.steps)))
    for finding in claimed:
        family = names.family(finding.source)
        if family == names.INPUT_WAIT:
            lost[FIRST_BATCH][:1] += finding.lost_per_step[:1]
            lost[family][1:] += finding.lost_per_step[1:]
        else:
            lost[family] += finding.lost_per_step
    parts = [_part(case, name, seconds) for name, seconds in lost.items()]
    return tuple(sorted((part for part in parts if part is not None), key=_place))


def _part(case: Case, name: str, lost: Float) -> CausePart | None:
    rows = np.flatnonzero(lost)
    seconds = float(lost.sum())
    if seconds < _LEAST_SECONDS:
        return None
    title, known = _WORDS.get(name, (account_title(name), "measured"))
    steps = (case.step(int(rows[0])), case.step(int(rows[-1])))
    return CausePart(name, title, seconds, steps, known)


def _place(part: CausePart) -> tuple[int, int]:
    order = _ORDER.index(part.part) if part.part in _ORDER else len(_ORDER)
    return part.steps[0], order

"""RAM is full: the process reads its own pages back from disk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_rate,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.common.program import Program
from tb_slowdown_plugin.analysis.causes.memory import host_memory_advice as advice
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention import tensors_grow
from tb_slowdown_plugin.analysis.text.wording import count, size
from tb_slowdown_plugin.analysis.types import Finding

_LEAST_FAULTS: Final = 1.0
"""Major faults a step, each a read from disk of 0.1 to 10 ms, from which a stretch is under
pressure; a healthy run has some at the start, and none later."""
_LITTLE: Final = 0.1
"""Share of the memory that is left, from which it is full."""


def explain(case: Case) -> Claim | None:
    """Claims slow steps that come with major page faults, while other steps have none."""
    pressed = rows_by_rate(case, "major_faults", lambda faults: faults >= _LEAST_FAULTS)
    claimed = lying_in(case, pressed)
    if not claimed:
        return None
    return Claim(
        "host_memory",
        claimed,
        "full host memory" if _is_full(case) else "memory that is read from disk",
        "RAM is full: the process waits for its own memory to be read back from disk."
        if _is_full(case)
        else "The process waits for memory that is read from disk: pages of mapped files, or its "
        "own that were swapped out.",
        tuple(_evidence(case, claimed, pressed)),
        advice.advise(
            advice.HostMemory(
                Program.of(case.run), full=_is_full(case), tensors_grow=tensors_grow(case)
            )
        ),
        "medium",
    )


def _is_full(case: Case) -> bool:
    """Whether little memory was left at some time, as far as that is known."""
    limit = case.run.environment.limits.get("memory_limit_bytes", 0.0)
    used = case.signal("rss_bytes")[1]
    free = case.signal("memory_available_bytes")[1]
    if len(used) and limit and used.max() >= (1 - _LITTLE) * limit:
        return True
    return bool(len(free) and limit and free.min() <= _LITTLE * limit)


def _evidence(case: Case, claimed: tuple[Finding, ...], pressed: Mask) -> Iterable[str]:
    faults = case.signal("major_faults")[1]
    yield (
        f"{count(faults[-1] - faults[0])} pages were read from disk (major faults), in "
        f"{tell_rows(case, pressed)}."
    )
    yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)
    memory = case.signal("rss_bytes")[1]
    limit = case.run.environment.limits.get("memory_limit_bytes")
    if len(memory) and limit:
        yield f"The process used up to {size(float(memory.max()))} of {size(limit)}."

"""Tensors are never freed: a gradient tape is left open, or a history is concatenated.

How it looks: Step time and the allocator's bytes grow together. Or the process grows, and so does
the time of a line that starts operations from Python.

Confused with:

- `host_memory`: Growing memory that costs no time isn't named. Host memory needs major page faults.
- `gpu_memory`: A device that is nearly full makes steps slower from that moment. Retained tensors
  make each step a little slower than the one before.
- `python_overhead`: Python objects without tensors leave the allocator's bytes as they are.
- `backward_pass`: An open gradient tape can cause both. With `phase("backward")` around the
  gradients the growth is charged there.
- Healthy, one allocation: A buffer that is created once rises once. Memory must rise again and
  again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    lost_seconds,
    span,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    GrowingPlace,
    growing_places,
    main_line,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import places_of_most
from tb_slowdown_plugin.analysis.causes.common.places.started_operations import (
    starts_operations,
    tell_new_operations,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    grows_at_intervals,
    tell_rise,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import ends, measured_work
from tb_slowdown_plugin.analysis.causes.memory import open_tapes, tensor_retention_fixes
from tb_slowdown_plugin.analysis.causes.memory.growing_bytes import find_growing_bytes, number_grows
from tb_slowdown_plugin.analysis.causes.memory.tensor_holders import find_holder
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_fixes import Retention
from tb_slowdown_plugin.analysis.text.wording import duration, size
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import GROWING_VARIABLE
from tb_slowdown_plugin.catalog.parameters.shared import LARGER
from tb_slowdown_plugin.records.types import Float, Int


def explain(case: Case) -> Claim | None:
    """Claims growth of the step time while bytes that are kept, and CPU time, grow."""
    if taped := case.of(names.OPEN_TAPE):
        return open_tapes.claim_in_turn(case, taped)
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    where = np.arange(rows[0], rows[1] + 1)
    often = ""
    if not claimed:
        claimed, where = grows_at_intervals(case)
        often = f" {cadence(where, len(case.run.steps))}"
    if not claimed:
        return None
    elsewhere = measured_work(case)  # such as retraces, of which the first steps have more
    cpu = _ends_at(case.run.steps.process_cpu_seconds - elsewhere, where)
    places = growing_places(case)
    levels = _ends_at(case.run.steps.period_seconds - elsewhere, where)
    started = _started_at(case, places)
    found = find_growing_bytes(case, rows, levels, operations_grow=bool(started))
    if found is None or not cpu[1] > LARGER * cpu[0]:
        return open_tapes.claim_long_one(case, claimed, rows)
    growth = found.growth
    grown = tell_rise(
        case, "The time of such a step" if often else "Step time", levels, span(claimed)
    )
    most = places_of_most(case, case.wall_share(lost_seconds(claimed)))
    holder = find_holder(case, growth.last - growth.first)
    return Claim(
        "tensor_retention",
        claimed,
        f"operations on ever more tensors in {started}"
        if started
        else "tensors that are never freed",
        f"{found.what} grows by {size(growth.per_step)} per step, and step time grows with it"
        f"{often}.",
        (
            f"{found.holder} {size(growth.first)} around "
            f"{case.step_text(growth.first_row)} and {size(growth.last)} around "
            f"{case.step_text(growth.last_row)} (medians of the samples in the first and the last "
            "third).",
            f"{grown}{'; its' if grown else 'Its'} CPU time grew from {duration(cpu[0])} to "
            f"{duration(cpu[1])}.",
            *([holder.tell(case)] if holder else []),
            *_tell_variable(case),
            *tell_places(places, most),
            *tell_new_operations(case, rows),
        ),
        tensor_retention_fixes.advise(Retention(listed=number_grows(case, rows), place=started)),
        "medium",
        "drift",
        place=(holder and holder.place) or to_place(_variable_of(case)) or main_line(places, most),
    )


def _ends_at(series: Float, where: Int) -> tuple[float, float]:
    return ends(series[where], (0, len(where) - 1))


def _variable_of(case: Case) -> str:
    """The line that adds rows to a variable, where one was seen in a graph; else ""."""
    told = case.run.facts(GROWING_VARIABLE)
    return told[-1][1].subject if told else ""


def _tell_variable(case: Case) -> Iterable[str]:
    if place := _variable_of(case):
        yield f"In each step `{place}` adds rows to a variable of open shape."


def _started_at(case: Case, places: list[GrowingPlace]) -> str:
    """The place that takes ever longer, if that is by operations that it starts; else ""."""
    return places[0].place if places and starts_operations(case, places[0].place) else ""

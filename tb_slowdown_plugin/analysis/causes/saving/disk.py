"""Writing makes steps slower: files that grow, a busy disk, or a disk that is nearly full.

How it looks: Steps write more and more bytes, or the same bytes take longer while the machine waits
for its disks (PSI).

Confused with:

- `checkpointing`: Frequent saves, or saves that write more each time, are checkpointing.
- `host_memory`: Major page faults are reads of memory from disk.
- `input_pipeline`: Slow reads of training data are input wait.
- `python_overhead`: Preparing what is written takes the training thread's CPU time. The growth of
  the bytes must be large enough: at least 64 KiB per step, and no less than the extra time at 10
  MB/s.
- Healthy, other processes: Disk pressure is counted for the whole machine. It is named only for
  slow steps, with medium confidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    Mask,
    lost_seconds,
    span,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    growing_places,
    main_line,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import places_of_most
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_rate,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_rise, working_rows
from tb_slowdown_plugin.analysis.causes.common.trend_tests import ends
from tb_slowdown_plugin.analysis.causes.saving import disk_fixes, file_writes
from tb_slowdown_plugin.analysis.causes.saving.growing_writes import find_growing_writes
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import stack_sets
from tb_slowdown_plugin.analysis.prepare.unclocked.waits import main_writer
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import counted, duration, size, whole_percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.causes import (
    LITTLE_SPACE,
    MUCH_OUTPUT,
)
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, SERIES, UNDER_PRESSURE

IO_PRESSURE: Final = "io_pressure_seconds"


def explain(case: Case) -> Claim | None:
    """Claims slow steps and saves under pressure of the disk, and growth of what is written."""
    written = file_writes.claim(case)
    if written is not None:
        return written
    return _claim_pressure(case) or _claim_growth(case)


def _claim_pressure(case: Case) -> Claim | None:
    """Steps and saves that are slower while the machine waits for its disks."""
    pressed = rows_by_rate(
        case, IO_PRESSURE, lambda share: share >= UNDER_PRESSURE, per_second=True
    )
    busy = lying_in(case, pressed)
    claimed = (*busy, *lying_in(case, pressed, _saves_of_same_bytes(case)))
    if not claimed:
        return None
    writes = find_growing_writes(case, busy)
    line = main_writer(stack_sets(case.run)) if writes else ""
    more = f"{writes.tell()}. " if writes else ""
    return Claim(
        "disk",
        claimed,
        _name_growth(line) if writes else "I/O pressure",
        f"{more}Steps are slower while processes on this machine wait for disk.{_tell_line(line)}",
        (
            *_tell_pressure(case, claimed, pressed),
            *(file_writes.tell_samples(case, line) if line else ()),
        ),
        _advise(case, grows=writes is not None),
        "medium",
        place=to_place(line),
    )


def _claim_growth(case: Case) -> Claim | None:
    """Steps that write more and more."""
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    writes = find_growing_writes(case, claimed)
    if writes is None:
        return None
    line = main_writer(stack_sets(case.run))
    rows = span(claimed)
    grown = tell_rise(case, "Step time", ends(case.run.steps.period_seconds, rows), rows)
    places = growing_places(case)
    most = places_of_most(case, case.wall_share(lost_seconds(claimed)))
    return Claim(
        "disk",
        claimed,
        _name_growth(line),
        f"{writes.tell()}, and step time grows with them.{_tell_line(line)}",
        (
            *([f"{grown}."] if grown else []),
            *_tell_output(case),
            *(file_writes.tell_samples(case, line) if line else tell_places(places, most)),
        ),
        _advise(case, grows=True),
        "medium",
        "drift",
        place=to_place(line) or main_line(places, most),
    )


def _name_growth(line: str) -> str:
    """In a headline."""
    return f"growing disk writes in {line}" if line else "growing disk writes"


def _advise(case: Case, *, grows: bool) -> tuple[Advice, ...]:
    free = case.signal("disk_free_bytes")[1]
    full = bool(len(free)) and float(free.min()) < LITTLE_SPACE
    return disk_fixes.advise(disk_fixes.Writing(Program.of(case.run), grows=grows, full=full))


def _tell_line(line: str) -> str:
    return f" The training thread writes in {line}." if line else ""


def _saves_of_same_bytes(case: Case) -> tuple[Finding, ...]:
    """Growth of the time of saves, where each writes as many bytes as the first ones."""
    written = [f.numbers["bytes"] for _, f in case.run.facts("checkpoint") if "bytes" in f.numbers]
    third = len(written) // 3
    if len(written) < SERIES or np.median(written[-third:]) > LARGER * np.median(written[:third]):
        return ()
    return tuple(f for f in case.of(names.CHECKPOINT) if f.pattern in ("drift", "level_shift"))


def _tell_pressure(case: Case, claimed: tuple[Finding, ...], pressed: Mask) -> Iterable[str]:
    seconds = case.signal(IO_PRESSURE)[1]
    yield (
        f"Processes on this machine waited {duration(float(seconds[-1] - seconds[0]))} for disk "
        f"(PSI, at least one of them), and at least {whole_percent(UNDER_PRESSURE)} of the time in "
        f"{tell_rows(case, pressed)}."
    )
    saving = case.account(names.CHECKPOINT)
    rows = working_rows(saving)
    if any(names.family(f.source) == names.CHECKPOINT for f in claimed) and len(rows) >= 3:
        third = len(rows) // 3
        yield (
            f"Time per save grew from {duration(float(np.median(saving[rows[:third]])))} to "
            f"{duration(float(np.median(saving[rows[-third:]])))} for the same number of bytes."
        )
    else:
        yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)
    yield from _tell_output(case)


def _tell_output(case: Case) -> Iterable[str]:
    """What the run has left on the disk, and how much is left of the disk."""
    rows, output = case.signal("output_bytes")
    if len(output) >= 2 and output[-1] - output[0] >= MUCH_OUTPUT:
        files = case.signal("output_files")[1]
        number = f" in {counted(round(files[-1]), 'file')}" if len(files) else ""
        yield (
            f"The logdir and the directories of checkpoints hold {size(float(output[0]))} at "
            f"{case.step_text(int(rows[0]))} and {size(float(output[-1]))}{number} at "
            f"{case.step_text(int(rows[-1]))}."
        )
    free = case.signal("disk_free_bytes")[1]
    if len(free) and free.min() < LITTLE_SPACE:
        yield f"Only {size(float(free.min()))} of the disk is free."

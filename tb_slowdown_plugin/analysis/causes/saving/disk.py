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
from dataclasses import dataclass
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
from tb_slowdown_plugin.analysis.causes.common.fixes import (
    fewer_summaries,
    keep_few,
    new,
    old,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places import (
    growing_places,
    main_line,
    places_of_most,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_rate,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.common.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_rise, working_rows
from tb_slowdown_plugin.analysis.causes.common.trend_tests import ends
from tb_slowdown_plugin.analysis.causes.saving import file_writes
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import stack_sets
from tb_slowdown_plugin.analysis.prepare.unclocked.waits import main_writer
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import counted, duration, size, whole_percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.causes import (
    LEAST_WRITTEN_GROWTH,
    LITTLE_SPACE,
    MUCH_OUTPUT,
    SLOWEST_WRITING,
)
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, SERIES, UNDER_PRESSURE
from tb_slowdown_plugin.records.types import Float

IO_PRESSURE: Final = "io_pressure_seconds"

_WRITTEN: Final = "disk_written_bytes"

_MORE: Final = "growing disk writes"

_TENSORFLOW: Final = frozenset({"CheckpointManager", "tf.train.Checkpoint"})


def _fills_with_checkpoints(writing: Writing) -> bool:
    return writing.program.saves and writing.full


def _grows(writing: Writing) -> bool:
    return writing.grows


def _is_full(writing: Writing) -> bool:
    return writing.full


def _saves(writing: Writing) -> bool:
    return writing.program.saves


def _saves_checkpoints(writing: Writing) -> bool:
    """By TensorFlow's manager, which keeps all, or nobody knows by what."""
    if writing.program.keeps_few:
        return False
    savers = writing.program.savers
    return writing.program.saves and (not savers or not savers.isdisjoint(_TENSORFLOW))


def _writes_summaries(writing: Writing) -> bool:
    return writing.program.summaries


def append() -> Advice:
    """Only what is new."""
    return Advice(
        "Append what is new instead of writing everything again.",
        snippet(
            old('with open(path, "wb") as file:', "    file.writelines(written)"),
            new('with open(path, "ab") as file:', "    file.write(block)"),
        ),
        "What has been written is not changed afterwards; delete the file before a new run.",
        "find where the step opens a file for writing",
    )


def delete_old_checkpoints() -> Advice:
    """With care."""
    return Advice(
        "Delete checkpoints that earlier runs have left, all but the newest three. Look at the "
        "list first: remove `dry_run` only when you need none of them.",
        snippet(
            new(
                "dry_run = True",
                'found = sorted(pathlib.Path("ckpt").glob("ckpt-*.index"),',
                "               key=lambda path: path.stat().st_mtime)",
                "for index in found[:-3]:",
                '    for file in index.parent.glob(f"{index.stem}.*"):',
                '        print("would delete" if dry_run else "deletes", file)',
                "        if not dry_run:",
                "            file.unlink()",
            )
        ),
        "Deleted states can't be brought back. `tf.train.CheckpointManager` deletes its own "
        "(`max_to_keep`); do not run this beside it.",
        "a program of its own",
    )


def delete_temporary_files() -> Advice:
    """A directory that goes by itself."""
    return Advice(
        "Put temporary files into a directory that is deleted by itself, also when the step fails.",
        snippet(
            old("folder = tempfile.mkdtemp()", "write_parts(folder)"),
            new("with tempfile.TemporaryDirectory() as folder:", "    write_parts(folder)"),
        ),
        "Nothing of them is left to look at afterwards.",
        "find `tempfile.mkdtemp` or files in `/tmp`",
    )


def local_disk() -> Advice:
    """Not over the network while training waits."""
    return Advice(
        "Write to a local disk, and copy to the shared one when the save is done: another thread "
        "copies while training goes on.",
        snippet(
            same("path = manager.save()"),
            new("pool.submit(shutil.copytree, manager.directory, shared, dirs_exist_ok=True)"),
        ),
        "Space on the local disk. Before the loop: "
        "`pool = concurrent.futures.ThreadPoolExecutor(1)`; at its end `pool.shutdown()` waits for "
        "the last copy.",
        "find `manager.save()`",
    )


OFFERS: Final = (
    Offer(plain(append), when=_grows),
    Offer(plain(local_disk), when=_saves),
    Offer(plain(keep_few), when=_saves_checkpoints),
    Offer(plain(fewer_summaries), when=_writes_summaries),
    Offer(plain(delete_old_checkpoints), when=_fills_with_checkpoints),
    Offer(plain(delete_temporary_files), when=_is_full),
)


@dataclass(frozen=True, slots=True)
class _Writes:
    """Bytes that are written in a step, in the first and in the last third of the run."""

    first: float
    last: float


def explain(case: Case) -> Claim | None:
    """Claims slow steps and saves under pressure of the disk, and growth of what is written."""
    written = file_writes.claim(case)
    if written is not None:
        return written
    pressed = rows_by_rate(
        case, IO_PRESSURE, lambda share: share >= UNDER_PRESSURE, per_second=True
    )
    busy = lying_in(case, pressed)
    saves = lying_in(case, pressed, _saves_of_same_bytes(case))
    if busy or saves:
        writes = _growing_writes(case, busy)
        more = f"{_tell_writes(writes)}. " if writes else ""
        line = main_writer(stack_sets(case.run)) if writes else ""
        return Claim(
            "disk",
            (*busy, *saves),
            (f"{_MORE} in {line}" if line else _MORE) if writes else "I/O pressure",
            f"{more}Steps are slower while processes on this machine wait for disk."
            f"{_tell_line(line)}",
            (
                *_tell_pressure(case, (*busy, *saves), pressed),
                *(file_writes.tell_samples(case, line) if line else ()),
            ),
            _advise(case, grows=writes is not None),
            "medium",
            place=to_place(line) if line else None,
        )
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    writes = _growing_writes(case, claimed)
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
        f"{_MORE} in {line}" if line else _MORE,
        f"{_tell_writes(writes)}, and step time grows with them.{_tell_line(line)}",
        (
            *([f"{grown}."] if grown else []),
            *_tell_output(case),
            *(file_writes.tell_samples(case, line) if line else tell_places(places, most)),
        ),
        _advise(case, grows=True),
        "medium",
        "drift",
        place=to_place(line) if line else main_line(places, most),
    )


def _advise(case: Case, *, grows: bool) -> tuple[Advice, ...]:
    free = case.signal("disk_free_bytes")[1]
    full = bool(len(free)) and float(free.min()) < LITTLE_SPACE
    return advise(Writing(Program.of(case.run), grows=grows, full=full))


def _tell_writes(writes: _Writes) -> str:
    return (
        f"Writes grow from {size(writes.first)} per step (first third of the run) to "
        f"{size(writes.last)} (last third)"
    )


def _tell_line(line: str) -> str:
    return f" The training thread writes in {line}." if line else ""


def _saves_of_same_bytes(case: Case) -> tuple[Finding, ...]:
    """Growth of the time of saves, where each writes as many bytes as the first ones."""
    written = [f.numbers["bytes"] for _, f in case.run.facts("checkpoint") if "bytes" in f.numbers]
    third = len(written) // 3
    if len(written) < SERIES or np.median(written[-third:]) > LARGER * np.median(written[:third]):
        return ()
    return tuple(f for f in case.of(names.CHECKPOINT) if f.pattern in ("drift", "level_shift"))


def _growing_writes(case: Case, claimed: tuple[Finding, ...]) -> _Writes | None:
    """The bytes written in a step, where they rise enough for what these findings lost."""
    writes = _bytes_of_steps(case) if claimed else None
    if writes is None:
        return None
    before, after = ends(case.run.steps.period_seconds, span(claimed))
    most = (writes.last - writes.first) / SLOWEST_WRITING
    return writes if after - before <= most else None


def _bytes_of_steps(case: Case) -> _Writes | None:
    """The bytes written in a step, where they rise for the most part of the run."""
    rows, total = case.signal(_WRITTEN)
    steady = rows >= case.diagnosis.warm_up_rows
    rows, total = rows[steady], total[steady]
    # The end of each of a few equal parts, so that what the kernel counts late evens out.
    edges = np.unique(np.linspace(0, len(rows) - 1, 13).astype(np.int64)) if len(rows) else rows
    rows, total = rows[edges], total[edges]
    moved = np.append(np.diff(rows) > 0, True) if len(rows) else np.empty(0, bool)
    rows, total = rows[moved], total[moved]
    if len(rows) <= SERIES:
        return None
    each: Float = np.diff(total) / np.diff(rows)
    third = len(each) // 3
    writes = _Writes(float(np.median(each[:third])), float(np.median(each[-third:])))
    rises = grows(each)
    return writes if rises and writes.last - writes.first >= LEAST_WRITTEN_GROWTH else None


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


@dataclass(frozen=True, slots=True)
class Writing:
    """What the record says of writing."""

    program: Program
    grows: bool = False
    """A step writes more and more."""
    full: bool = False
    """Little of the disk is free."""


def advise(writing: Writing) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, writing)


EXAMPLES: Final = (Writing(Program(saves=True, summaries=True), grows=True, full=True),)
"""Evidence for its page in the documentation."""

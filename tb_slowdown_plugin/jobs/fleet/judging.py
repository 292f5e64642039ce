"""What a worker does: reads some runs one after the other, and judges them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.build.run_builder import Bounds
from tb_slowdown_plugin.reader.event_files import Damaged
from tb_slowdown_plugin.reader.logdir import read_stored
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet.columns import Rows, judged_rows, unjudged_row
from tb_slowdown_plugin.report.judged_runs import with_what_is_beside
from tb_slowdown_plugin.report.run_row import run_row

_BASE_BYTES: Final = 160 << 20
"""Of a process that has read nothing yet, with what reads object stores."""
_ROW_BYTES: Final = 700
"""What a step with six accounts takes while its run is judged (`benchmarks/fleet.py --memory`)."""
_FEWEST_ROWS: Final = 1 << 14


def bounds_within(memory_bytes: int) -> Bounds:
    """How much of a run is kept step by step, so that a worker stays within its memory.

    A longer run is summed up: each row stands for 2, 4, 8, ... of its steps.

    >>> bounds_within(1 << 30).rows, bounds_within(300 << 20).rows
    (1048576, 131072)
    """
    rows = _FEWEST_ROWS
    while 2 * rows * _ROW_BYTES <= memory_bytes - _BASE_BYTES:
        rows *= 2
    return Bounds(rows=rows, samples=rows // 8, events=rows // 16)


def judge_batch(batch: Sequence[StoredRun], memory_bytes: int) -> list[Rows]:
    """The rows of each run of a batch. Whatever is wrong with a run is the reason in its row."""
    bounds = bounds_within(memory_bytes)
    return [_judge(stored, bounds) for stored in batch]


def _judge(stored: StoredRun, bounds: Bounds) -> Rows:
    rows = Rows([], [])
    damages: list[Damaged] = []
    reason = None
    try:
        for run in read_stored(stored, damages, attach=with_what_is_beside, bounds=bounds):
            account = account_for(run)
            of_run, causes = judged_rows(stored, run_row(run, account), account.report)
            rows.runs.append(of_run)
            rows.causes.extend(causes)
    except MemoryError:
        reason = "it takes more memory than --memory-limit allows"
    except Exception as error:  # noqa: BLE001 - a stranger's records; one run must not end all
        reason = f"it can't be judged ({type(error).__name__}: {error})"
    if reason is None and damages and not rows.runs:
        reason = damages[0].sentence
    if reason is not None:
        return Rows([unjudged_row(stored, "unreadable", reason)], [])
    return rows if rows.runs else Rows([unjudged_row(stored, "no_data", None)], [])

"""TensorFlow limited to fewer threads than there are cores: a note, as all steps are so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.machine.cpu_contention_fixes import Cores
from tb_slowdown_plugin.analysis.text.wording import count, counted, significant
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.run import Run


class FewThreads(NamedTuple):
    """What the threads are, and could be."""

    threads: int
    """For one operation."""
    cores: int
    """That the process may use."""
    busy: float
    """So many cores are busy in a step, by its median, beside the training thread."""


def tell_few_threads(case: Case) -> Iterable[str]:
    """What is not used, and how to measure what that takes."""
    if (few := _find(case.run)) is not None:
        yield (
            f"TensorFlow computes each operation with {counted(few.threads, 'thread')}, as the "
            f"program or its environment has set it, and may use {counted(few.cores, 'core')}: "
            f"beside the training thread, a step keeps {significant(few.busy, 2)} of them busy. "
            "That can make large products of matrices and convolutions slower; step times don't "
            "show by how much. `tbslow try --only threads` measures it with "
            f"{counted(few.cores, 'thread')}. Leave out "
            "`tf.config.threading.set_intra_op_parallelism_threads` and `TF_NUM_INTRAOP_THREADS`, "
            "unless other programs need these cores."
        )


def tell_few_threads_shortly(case: Case) -> str:
    """The same in a headline."""
    if (few := _find(case.run)) is None:
        return ""
    return (
        f"But TensorFlow is limited to {counted(few.threads, 'thread')} on {count(few.cores)} "
        "cores, which can make each step longer."
    )


def _find(run: Run) -> FewThreads | None:
    """None where the threads are as many as the cores, or mostly wait for something else.

    What the training thread computes itself is Python and small operations, which need one thread.
    On a GPU, or beside workers that share the machine, few threads may be right.
    """
    environment, steps = run.environment, run.steps
    cores = Cores.of(environment.limits)
    room = int(min(cores.allowed or 0, cores.quota or np.inf))
    if cores.threads is None or cores.threads >= room:
        return None
    if not environment.is_cpu_alone or environment.worker_count > 1:
        return None
    long = steps.period_seconds > 0
    others = (steps.process_cpu_seconds - steps.thread_cpu_seconds)[long]
    shares = others / steps.period_seconds[long]
    busy = float(np.nanmedian(shares)) if np.isfinite(shares).any() else 0.0
    return FewThreads(cores.threads, room, busy) if busy > MAJORITY * cores.threads else None

"""TensorFlow limited to fewer threads than there are cores: a note, as all steps are so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import count, counted, significant
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment


class FewThreads(NamedTuple):
    """What the threads are, and could be."""

    threads: int
    """For one operation."""
    cores: int
    """That the process may use."""
    busy: float
    """So many cores are busy in a step, by its median."""


def tell_few_threads(case: Case) -> Iterable[str]:
    """What is not used, and how to measure what that takes."""
    if (few := _find(case.run)) is not None:
        yield (
            f"TensorFlow computes each operation with {counted(few.threads, 'thread')}, as the "
            f"program or its environment has set it, and may use {counted(few.cores, 'core')}: a "
            f"step keeps {significant(few.busy, 2)} of them busy. Large products of matrices and "
            "convolutions take longer so, and no clock shows by how much; `tbslow try --only "
            f"threads` measures it with {counted(few.cores, 'thread')}. Leave out "
            "`tf.config.threading.set_intra_op_parallelism_threads` and `TF_NUM_INTRAOP_THREADS`, "
            "unless other programs need these cores."
        )


def tell_few_threads_shortly(case: Case) -> str:
    """The same in a headline."""
    if (few := _find(case.run)) is None:
        return ""
    return (
        f"But TensorFlow is limited to {counted(few.threads, 'thread')} on {count(few.cores)} "
        "cores, which makes large operations take longer."
    )


def _find(run: Run) -> FewThreads | None:
    """None where the threads are as many as the cores, or mostly wait for something else."""
    threads, cores = run.environment.limits.get("intra_op_threads"), _cores(run.environment)
    if threads is None or threads >= cores:
        return None
    steps = run.steps
    known = steps.process_cpu_seconds[steps.period_seconds > 0]
    shares = known / steps.period_seconds[steps.period_seconds > 0]
    busy = float(np.nanmedian(shares)) if np.isfinite(shares).any() else 0.0
    return FewThreads(int(threads), cores, busy) if busy > MAJORITY * threads else None


def _cores(environment: Environment) -> int:
    """That the process may use, and that a container's quota pays for; 0 where not recorded."""
    limits = environment.limits
    return int(min(limits.get("cpu_count", 0.0), limits.get("cpu_quota_cores", np.inf)))

"""A GPU of the machine that TensorFlow doesn't see, so that all is computed on the CPU."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.catalog import names


def tell_unused_gpu(case: Case) -> Iterable[str]:
    """Why that may be, and what to do."""
    gpus = _find_unused(case)
    if gpus:
        yield (
            f"The machine has {counted(gpus, 'NVIDIA GPU')}, and TensorFlow sees none: the steps "
            "run on the CPU. Most often TensorFlow was installed without CUDA (`pip install "
            '"tensorflow[and-cuda]"` brings it), or a container has no access to the GPU (`docker '
            "run --gpus all`). To use the CPU on purpose, and without this note, set "
            "`CUDA_VISIBLE_DEVICES=-1`."
        )


def tell_unused_gpu_shortly(case: Case) -> str:
    """The same in a headline."""
    gpus = _find_unused(case)
    return f"But TensorFlow sees none of the machine's {counted(gpus, 'GPU')}." if gpus else ""


def _find_unused(case: Case) -> int:
    environment = case.run.environment
    alone = environment.is_cpu_alone
    return int(environment.limits.get(names.MACHINE_GPUS, 0)) if alone else 0

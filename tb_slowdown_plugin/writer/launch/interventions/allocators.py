"""Another allocator: tcmalloc for host memory, CUDA's own for GPUs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention

_GPU_ALLOCATOR: Final = "TF_GPU_ALLOCATOR"


class FastAllocator(Intervention):
    """The command has preloaded tcmalloc, where it is installed."""

    def install(self) -> None:
        """Chooses the allocator of GPUs, before TensorFlow starts them."""
        import tensorflow as tf

        self.applied = int(has_tcmalloc())
        if tf.config.list_physical_devices("GPU") and _GPU_ALLOCATOR not in os.environ:
            os.environ[_GPU_ALLOCATOR] = "cuda_malloc_async"
            self.applied += 1
        if not self.applied:
            raise Unavailable("tcmalloc isn't installed, and there is no GPU")


def has_tcmalloc(maps: Path = Path("/proc/self/maps")) -> bool:
    """Whether this process has it."""
    try:
        return "tcmalloc" in maps.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False

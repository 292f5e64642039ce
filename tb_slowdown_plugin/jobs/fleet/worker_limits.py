"""What a worker process may use. No imports: NumPy reads its number of threads as it loads."""

from __future__ import annotations

import contextlib
import os


def limit_worker(memory_bytes: int) -> None:
    """Sets the bounds of this process: one computing thread, and memory.

    Reading more than fits raises `MemoryError`, for one run.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # there is a process for each core
    with contextlib.suppress(ImportError, ValueError, OSError):  # a system without such limits
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

"""Interventions in the process: Python's garbage collector and TensorFlow's threads."""

from __future__ import annotations

import gc
import os
from typing import Final

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.collectors.system.kernel_files import quota_cores
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.output.environment import find_threads

_FREEZE_AFTER_STEPS: Final = 5


class GcFrozen(Intervention):
    """Objects that are there when training is under way are never looked at again."""

    untouched = f"the program ended within {_FREEZE_AFTER_STEPS} steps"

    def install(self) -> None:
        """Nothing yet: the objects are not there."""

    def after_step(self, finished: int) -> None:
        """Freezes once."""
        if finished == _FREEZE_AFTER_STEPS:
            gc.collect()
            gc.freeze()
            self.applied += 1


class Threads(Intervention):
    """Other threads in an operation than TensorFlow, or the program, starts."""

    def install(self) -> None:
        """Sets them before TensorFlow makes its pool, and where the program sets its own."""
        from tensorflow.python.framework import config

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self._cores, self._quota = cores or 1, quota_cores()
        number = threads_to_try(
            self._cores, self._quota, int(find_threads().get("intra_op_threads", 0))
        )
        if number is None:
            raise Unavailable("the process has one core")
        try:
            config.set_intra_op_parallelism_threads(number)
        except RuntimeError as error:
            raise Unavailable("TensorFlow's threads had been started before") from error
        self.applied = number
        self.hooks.replace(config, "set_intra_op_parallelism_threads", self._around)

    def _around(self, original: Method) -> Method:
        def call(num_threads: int) -> None:
            number = threads_to_try(self._cores, self._quota, int(num_threads))
            original(number)
            self.applied = number or 0

        return call


def threads_to_try(cores: int, quota: float | None, chosen: int | None = None) -> int | None:
    """How many threads to try: all of the quota where there is one, else half of the cores.

    Where the program has chosen fewer than there are cores: one for each of them.

    Example:
      >>> threads_to_try(8, None), threads_to_try(64, 4.0), threads_to_try(1, None)
      (4, 4, None)
      >>> threads_to_try(8, None, 1), threads_to_try(8, None, 16)
      (8, 4)
    """
    room = int(quota) if quota is not None and 1 <= quota < cores else cores
    if chosen and chosen < room:
        return room
    if room < cores:
        return room
    return cores // 2 if cores > 1 else None

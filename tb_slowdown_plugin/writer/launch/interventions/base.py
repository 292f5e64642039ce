"""What an intervention is: a change of the program from outside, counted."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks


class Intervention:
    """Changes the program of this process, once TensorFlow is imported.

    Args:
      steps: How many steps the program will run.
    """

    untouched = "the program has nothing that it changes"
    """Why it had no effect, where `applied` stays 0."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.applied = 0
        """How often it has changed something."""
        self.hooks = MethodHooks("tbslow try")

    def install(self) -> None:
        """Takes effect from now on.

        Raises:
          Unavailable: It can't be tried; the text says why.
        """
        raise NotImplementedError

    def after_step(self, finished: int) -> None:
        """A step has ended; `finished` counts it."""

    def batches_in(self, recorder: Any) -> float:  # noqa: ARG002 - for those that differ
        """How many batches the step that has just ended had."""
        return 1.0

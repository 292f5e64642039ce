"""The step under way, in the capture of a profiler that is on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.steps.profiler_annotation import Annotation


class StepTrace:
    """Opens and closes the annotation of one step after the other; never raises.

    Args:
      annotate: Begins the annotation of a step of a kind, with its number. Once it has
        failed no further step is annotated.
    """

    __slots__ = ("_annotate", "_annotation", "is_open")

    def __init__(self, annotate: Callable[[str, int], Annotation] | None) -> None:
        self._annotate = annotate
        self._annotation: Annotation | None = None
        self.is_open = False
        """Whether there is something to close."""

    def open(self, kind: str, number: int) -> None:
        """The step begins."""
        if self._annotate is not None:
            try:
                self._annotation = self._annotate(kind, number)
                self.is_open = True
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None

    def close(self) -> None:
        """It ended."""
        annotation, self._annotation = self._annotation, None
        self.is_open = False
        if annotation is not None:
            try:
                annotation.__exit__(None, None, None)
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None

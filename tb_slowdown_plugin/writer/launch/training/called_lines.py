"""Names what trains by the line of the program that called it: "minimize (train.py:41)"."""

from __future__ import annotations

from types import FrameType
from typing import Final

from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.writer.launch.training.step_cycle import Training

_PUBLIC: Final = frozenset(
    ("apply", "apply_gradients", "minimize", "set_weights", "train_on_batch")
)
"""What a program may have called that leads to what is hooked."""


class CalledLines:
    """Gives each calling line of the program one `Training`."""

    def __init__(self) -> None:
        self._places = SourcePlaces.of_process()
        self._known: dict[tuple[str, str, int], Training] = {}

    def at(self, frame: FrameType, owner: str, name: str, *, trains: bool = True) -> Training:
        """A call by the line of the program that made it, under the name that it has there.

        Args:
          frame: Of what was called.
          owner: Its class, "" where that says nothing to the user.
          name: What was called.
          trains: Whether that changes variables.
        """
        called, (file, line) = name, calling_line(frame)
        while frame.f_back is not None and (frame.f_code.co_filename, frame.f_lineno) != (
            file,
            line,
        ):
            if frame.f_code.co_name in _PUBLIC:
                called = frame.f_code.co_name
            frame = frame.f_back
        what = f"{owner}.{called}" if owner else called
        training = self._known.get((what, file, line))
        if training is None:
            name = f"{what} ({self._places.at(file, line)})"
            training = self._known[what, file, line] = Training(name, what, trains)
        return training

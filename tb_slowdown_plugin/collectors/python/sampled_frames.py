"""What the frames of a thread say at one moment: the program's line, its caller, libraries."""

from __future__ import annotations

import itertools
from types import CodeType, FrameType
from typing import Final, TypeAlias

from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.collectors.hooks.installed_code import (
    is_installed,
    is_known_library,
    program_frame,
)
from tb_slowdown_plugin.collectors.hooks.source_location import line_of
from tb_slowdown_plugin.collectors.python.still_frames import Stack

_TOLD: Final = frozenset({"matplotlib", "mpl_toolkits", "numpy", "pandas", "plotly", "seaborn"})
"""Packages that are told where one of them runs: each has advice of its own, or may have."""

Place: TypeAlias = tuple[CodeType, int]
"""A line of the user's."""


def place_of(frame: FrameType | None) -> Place | None:
    """The line that a frame is in; of none, none."""
    return None if frame is None else (frame.f_code, line_of(frame))


def find_caller(stack: Stack, code: CodeType) -> CodeType | None:
    """The function of the program that called a function of it, by whatever library; None of none.

    Args:
      stack: Frames, innermost first.
      code: Of a function that is in it.
    """
    inside = itertools.dropwhile(lambda frame: frame.f_code is not code, stack)
    frame = program_frame(each for each in inside if each.f_code is not code)
    return None if frame is None else frame.f_code


def libraries_of(innermost: FrameType) -> list[str]:
    """The package that a thread is in, if it is told."""
    if is_installed(innermost.f_code.co_filename):
        package = str(innermost.f_globals.get("__name__", "")).partition(".")[0]
        if package in _TOLD:
            return [f"{stack_samples.IN_PACKAGE}{package}"]
    return []


def calls_no_tensorflow(code: CodeType, innermost: FrameType) -> bool:
    """Whether the code runs itself, or has called another library than TensorFlow and Keras."""
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not code:
        if is_known_library(frame):
            return False
        frame = frame.f_back
    return True

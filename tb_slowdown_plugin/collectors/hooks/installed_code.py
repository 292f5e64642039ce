"""Tells code that was installed, or comes with Python, from code that the user wrote."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from tb_slowdown_plugin._paths import PACKAGE

_OWN_DIRECTORY: Final = str(PACKAGE) + os.sep
_INSTALLED: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_OF_PYTHON: Final = (
    sysconfig.get_path("stdlib") + os.sep,
    sysconfig.get_path("scripts") + os.sep,
    "<frozen ",
)
"""Python's own modules, and the scripts that installed packages are started by."""
_GENERATED: Final = "__autograph_generated_file"
"""How the names of files begin that AutoGraph writes functions into and deletes: nobody has them.
They lie in the directory for temporary files."""
_LIBRARIES: Final = ("keras", "tf_keras", "tensorflow", "tb_slowdown_plugin")
"""Never the user's, wherever they lie."""
_TENSORFLOW: Final = ("tensorflow", "tensorboard", "tb_slowdown_plugin")
"""What runs between a call of `tf.summary` and its caller."""
_MAX_FRAMES: Final = 200
"""Frames searched for the user's line; 30 to 60 were seen in Keras."""


def calling_line(frame: FrameType | None) -> tuple[str, int]:
    """File and number of the innermost line of the user's own code on a stack."""
    caller = calling_frame(frame)
    return ("", 0) if caller is None else (caller.f_code.co_filename, caller.f_lineno)


def calling_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code.

    Where there is none, as in a training that an installed command runs, the outermost of a
    package that is neither TensorFlow nor Keras; None where there is none of these either.
    """
    outermost = None
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        file = frame.f_code.co_filename
        if not is_installed(file) and not is_known_library(frame):
            return frame
        if not is_known_library(frame) and not file.startswith(_OF_PYTHON):
            outermost = frame
        frame = frame.f_back
    return outermost


def program_frame(stack: Iterable[FrameType]) -> FrameType | None:
    """The innermost frame that is of no library; None where there is none.

    Args:
      stack: Frames, innermost first.
    """
    return next((each for each in stack if not is_installed(each.f_code.co_filename)), None)


def direct_caller(frame: FrameType | None) -> FrameType | None:
    """The frame that called TensorFlow, where it is of the user's own code; None where it is not.

    Args:
      frame: In TensorFlow, or in what was put into it.
    """
    for _ in range(_MAX_FRAMES):
        if frame is None or package_of(frame) not in _TENSORFLOW:
            break
        frame = frame.f_back
    if frame is None or is_known_library(frame) or is_installed(frame.f_code.co_filename):
        return None
    return frame


@functools.lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file is Python's own, of an installed package, or one that AutoGraph wrote.

    A package counts as installed in `site-packages`, and in any directory of the import path
    that holds its `*.dist-info`, as `pip install --target` leaves it. One that is installed to be
    edited is the user's own.
    """
    if file.startswith((_OWN_DIRECTORY, *_OF_PYTHON)) or _INSTALLED.search(file):
        return True
    path = Path(file)
    if is_generated(file):
        return True
    return path.is_absolute() and any(
        _holds_metadata(root, path.relative_to(root).parts[0]) for root in _roots_of(path)
    )


def is_generated(file: str) -> bool:
    """Whether AutoGraph wrote a file: a function of the program is in it, in other lines."""
    return Path(file).name.startswith(_GENERATED)


def is_known_library(frame: FrameType) -> bool:
    """Whether TensorFlow, Keras or this package runs in a frame, wherever their files lie."""
    return package_of(frame) in _LIBRARIES


def package_of(frame: FrameType) -> str:
    """The outermost package of the module that a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _roots_of(path: Path) -> Iterator[str]:
    roots = {root for root in sys.path if root}
    return (str(parent) for parent in path.parents if str(parent) in roots)


@functools.lru_cache(maxsize=256)
def _holds_metadata(root: str, top: str) -> bool:
    """Whether a directory holds the metadata of the installed package of a module or folder."""
    return any(_lists(record, top) for record in Path(root).glob("*.dist-info/RECORD"))


def _lists(record: Path, top: str) -> bool:
    try:
        text = record.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.startswith((f"{top}/", f"{top},")) for line in text.splitlines())

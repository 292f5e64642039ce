"""Whether a line of the program starts a single TensorFlow operation: no graph, and no model."""

from __future__ import annotations

from types import FrameType
from typing import Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed, package_of

EAGER: Final = "eager"
"""What the number of such samples is called, of a place."""

_OTHER_FILES: Final = (
    "/checkpoint/",
    "/client/",
    "/data/",
    "/distribute/",
    "/eager/backprop.py",
    "/ops/summary_ops",
    "/polymorphic_function/",
    "/saved_model/",
    "/summary/",
    "/training/",
)
"""Parts of TensorFlow that run graphs, compute gradients, load, save, or write."""
_OTHER_FUNCTIONS: Final = frozenset({"__array__", "_numpy", "constant", "numpy"})
"""What copies arrays, and waits for a device."""


def starts_operation(innermost: FrameType) -> bool:
    """Whether the library code above the program's innermost frame is that of one operation."""
    frame: FrameType | None = innermost
    while frame is not None and is_installed(frame.f_code.co_filename):
        file = frame.f_code.co_filename.replace("\\", "/")
        if package_of(frame) != "tensorflow" or frame.f_code.co_name in _OTHER_FUNCTIONS:
            return False
        if any(part in file for part in _OTHER_FILES):
            return False
        frame = frame.f_back
    return frame is not innermost

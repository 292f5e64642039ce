"""Keeps our frames out of what TensorFlow says of errors in graphs.

"Detected at node ... defined at" lists the frames under which an operation was made, but for those
of TensorFlow. Our hooks lie between them. Private TensorFlow, so it is all in this file.
"""

from __future__ import annotations

import functools
from typing import Any

from tb_slowdown_plugin._paths import PACKAGE


def hide_own_frames() -> None:
    """Has TensorFlow leave out the frames of this package, from now on and in all threads.

    Where this TensorFlow has other means to, nothing happens.
    """
    from tensorflow.python.util import tf_stack

    stacks: Any = getattr(tf_stack, "_source_filter_stacks", None)
    sentinel: Any = getattr(tf_stack, "SentinelFilter", None)
    if getattr(tf_stack, "EMPTY_SET", None) != frozenset() or stacks is None or sentinel is None:
        return
    # What a thread's innermost filter leaves out, the filters above it leave out, too.
    tf_stack.EMPTY_SET = _own_files()

    def first_filter() -> list[Any]:
        made = sentinel()
        made.update()
        return [made]

    stacks.default_factory = first_filter
    for filters in list(stacks.values()):
        filters[0].update()


@functools.cache
def _own_files() -> frozenset[str]:
    folders = (PACKAGE / "collectors", PACKAGE / "writer")
    return frozenset(str(path) for folder in folders for path in folder.rglob("*.py"))

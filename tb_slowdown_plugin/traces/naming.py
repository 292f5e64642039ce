"""What the name of a profiler event says that it is."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tb_slowdown_plugin.records.captured import Kind, Part


class Meaning(NamedTuple):
    """What an event is."""

    kind: Kind
    part: Part
    title: str
    """As it is shown and compared."""


_OPERATION: Final = re.compile(r"([^:]+):([A-Za-z_]\w*)")
_CONTAINERS: Final = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf",
     "Case", "StatelessCase")
)  # fmt: skip
"""They only wait for the operations that they are made of."""
_NEXT: Final = re.compile(r"(MultiDevice)?IteratorGetNext")
_COPY: Final = re.compile(r"(?i:memcpy)|EagerCopyToDevice|(^|:)_?(Send|Recv)$|TransferTo|Infeed")
_WITHIN_DEVICE: Final = re.compile(r"(?i:memcpyd(to|2)d)")
"""A copy that leaves the device alone: work of the device."""
_STAGE: Final = "Iterator::"
_BUILDING: Final = "tf.function-graph_building"
_DERIVED_LINES: Final = (
    "Steps", "XLA Modules", "TensorFlow Name Scope", "TensorFlow Ops", "Source code",
    "Framework Name Scope", "Framework Ops",
)  # fmt: skip
"""Lines that say again what others say."""


def meaning(name: str, *, input_thread: bool, device: bool) -> Meaning | None:
    """What an event is, None where nothing is made of it.

    Args:
      name: The name in its metadata.
      input_thread: It lies on a thread of tf.data.
      device: It lies on a device's plane.

    Example:
      >>> meaning("dense/MatMul:MatMul", input_thread=False, device=False)
      Meaning(kind='operation', part='compute', title='dense/MatMul:MatMul')
    """
    if name in ("MemoryAllocation", "MemoryDeallocation"):
        return Meaning("memory", "rest", name)
    if name.startswith(_STAGE):
        return Meaning("stage", "input", name.partition("#")[0])
    if _COPY.search(name) and not (device and _WITHIN_DEVICE.search(name)):
        return Meaning("copy", "copies", name.partition("#")[0])
    if device:
        return Meaning("kernel", "device", name)
    if name == _BUILDING:
        return Meaning("tracing", "tracing", name)
    if "ompile" in name and "::" in name:
        return Meaning("compilation", "compilation", name.partition("#")[0])
    found = _OPERATION.fullmatch(name)
    kind = found[2] if found else ""
    if _NEXT.match(kind) or _NEXT.match(name):
        return Meaning("input", "input", "IteratorGetNext")
    if found is None or kind in _CONTAINERS:
        return None
    return Meaning("operation", "input" if input_thread else "compute", name)


def is_input_thread(line: str) -> bool:
    """Whether a line's name is that of a thread of tf.data.

    >>> is_input_thread("tf_data_iterator_resource/-3454")
    True
    """
    return line.startswith("tf_data")


def is_device(plane: str) -> bool:
    """Whether a plane is a device's.

    >>> is_device("/device:GPU:0")
    True
    """
    return plane.startswith("/device:") and "CPU" not in plane


def is_derived(line: str) -> bool:
    """Whether a device's line only repeats what others hold."""
    return line.startswith(_DERIVED_LINES)

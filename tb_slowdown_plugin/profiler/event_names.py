"""What the name of a profiler event says that it is."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

from tb_slowdown_plugin.records.capture import Kind, Part

Direction: TypeAlias = Literal["host_to_device", "device_to_host", "within_device"]


class Meaning(NamedTuple):
    """What an event is."""

    kind: Kind
    part: Part
    title: str
    """As it is shown and compared."""
    direction: Direction | None = None
    """Of a copy on a device."""


_OPERATION: Final = re.compile(r"([^:]+):([A-Za-z_]\w*)")
_CONTAINERS: Final = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf",
     "Case", "StatelessCase")
)  # fmt: skip
"""They only wait for the operations that they are made of."""
_NEXT: Final = re.compile(r"(MultiDevice)?IteratorGetNext")
_COPY: Final = re.compile(r"(?i:memcpy)|EagerCopyToDevice|(^|:)_?(Send|Recv)$|TransferTo|Infeed")
_DIRECTIONS: Final[tuple[tuple[Direction, re.Pattern[str]], ...]] = (
    ("host_to_device", re.compile(r"(?i)memcpyh(to|2)d|hosttodevice|^infeed")),
    ("device_to_host", re.compile(r"(?i)memcpyd(to|2)h|devicetohost|^outfeed")),
    (
        "within_device",
        re.compile(r"(?i)memcpyd(to|2)d|devicetodevice|^copy(-start|-done)?([.\d]|$)"),
    ),
)
"""CUPTI's, TensorFlow's and ROCm's names of copies, and XLA's operations that copy."""
_BLIT: Final = re.compile(r"^__amd_rocclr_copy")
"""ROCm's runtime copies with kernels of its own; the call that launched one says which way."""
_COMMUNICATION: Final = re.compile(
    r"(?i)(^|\W)(nccl|rccl|msccl|nvshmem)|memcpyp(to|2)p|peertopeer"
    r"|all_?-?reduce|all_?-?gather|reduce_?-?scatter|all_?-?to_?-?all|collective_?-?(permute|broadcast)"
    r"|^(send|recv)(-done)?([.\d]|$)"
)
"""Kernels of NCCL and RCCL, copies between devices, XLA's collective operations."""
_COLLECTIVE: Final = re.compile(r"Collective\w+|Nccl\w+")
"""Operations of TensorFlow's host that wait for other devices or workers. Where devices report
what they do, they only launch it."""
_DRIVER_CALL: Final = re.compile(r"(cu|cuda|hip|nv|roc)[A-Z]")
_COMPILES: Final = re.compile(r"(?=.*::).*(Compil|(?<![a-z])compil)")
"""Not the kernels in cuDNN's `engines_precompiled`."""
_STAGE: Final = "Iterator::"
_BUILDING: Final = "tf.function-graph_building"


def meaning(
    name: str, *, input_thread: bool, device: bool = False, streams: bool = False
) -> Meaning | None:
    """What an event is, None where nothing is made of it.

    Args:
      name: The name in its metadata.
      input_thread: It lies on a thread of tf.data.
      device: It lies on a device's stream or line of operations.
      streams: Devices say themselves what they copied: the host's calls only launch it.

    Example:
      >>> meaning("dense/MatMul:MatMul", input_thread=False)
      Meaning(kind='operation', part='compute', title='dense/MatMul:MatMul', direction=None)
    """
    if device:
        return _of_device(name)
    if name in ("MemoryAllocation", "MemoryDeallocation"):
        return Meaning("memory", "rest", name)
    if name.startswith(_STAGE):
        return Meaning("stage", "input", _titled(name))
    if _COPY.search(name):
        return _on_the_host(name) if streams else Meaning("copy", "copies", _titled(name))
    if name == _BUILDING:
        return Meaning("tracing", "tracing", name)
    if _COMPILES.match(name):
        return Meaning("compilation", "compilation", _titled(name))
    found = _OPERATION.fullmatch(name)
    kind = found[2] if found else ""
    if _NEXT.match(kind) or _NEXT.match(name):
        return Meaning("input", "input", "IteratorGetNext")
    if found is None or kind in _CONTAINERS:
        return None
    if _COLLECTIVE.fullmatch(kind) and not streams:
        return Meaning("operation", "communication", name)
    return Meaning("operation", "input" if input_thread else "compute", name)


def launch(name: str) -> Meaning:
    """A call of the host that starts work on a device.

    CUPTI's events of such calls have the name of what they start.

    >>> launch("MemcpyH2D").title, launch("void gemm<float>(float*)").title
    ('launch of MemcpyH2D', 'launch of kernels')
    """
    if _DRIVER_CALL.match(name):
        return Meaning("launch", "compute", _titled(name))
    is_copy = _COPY.search(name) is not None
    return Meaning(
        "launch", "compute", f"launch of {_titled(name)}" if is_copy else "launch of kernels"
    )


def _on_the_host(name: str) -> Meaning:
    """What a name of a copy is on the host where devices tell of the copies themselves."""
    if "emcpy" in name or "emCpy" in name:
        return launch(name)
    return Meaning("operation", "compute", _titled(name))


def _titled(name: str) -> str:
    return name.partition("#")[0]


def direction_of(name: str) -> Direction | None:
    """Which way a copy goes by its name or by that of the call that launched it; None: no copy.

    >>> direction_of("hipMemcpyDtoDAsync"), direction_of("CopyDeviceToHost"), direction_of("gemm")
    ('within_device', 'device_to_host', None)
    """
    return next((way for way, pattern in _DIRECTIONS if pattern.search(name)), None)


def copy_of(name: str, direction: Direction) -> Meaning:
    """A copy on a device; one that leaves the device alone is work of the device."""
    if direction == "within_device":
        return Meaning("kernel", "device", name, direction)
    return Meaning("copy", "copies", _titled(name), direction)


def is_blit(name: str) -> bool:
    """Whether a kernel copies, and its name does not say which way."""
    return _BLIT.match(name) is not None


def is_input_thread(line: str) -> bool:
    """Whether a line's name is that of a thread of tf.data.

    >>> is_input_thread("tf_data_iterator_resource/-3454")
    True
    """
    return line.startswith("tf_data")


def is_device(plane: str) -> bool:
    """Whether a plane is a device's.

    >>> is_device("/device:GPU:0"), is_device("/device:CUSTOM:Megascale Trace")
    (True, False)
    """
    return plane.startswith("/device:") and "CPU" not in plane and "CUSTOM" not in plane


def _of_device(name: str) -> Meaning:
    called = name.partition("(")[0]
    direction = direction_of(called)
    if direction is not None:
        return copy_of(name, direction)
    if _COMMUNICATION.search(called):
        return Meaning("copy" if "emcpy" in called else "kernel", "communication", name)
    return Meaning("kernel", "device", name)

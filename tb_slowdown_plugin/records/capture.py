"""What a profiler capture tells of some steps of a run: read from its file, not recorded by us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

Part: TypeAlias = Literal[
    "device", "communication", "tracing", "compilation", "input", "copies", "compute", "rest"
]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""Where the time of a step goes; a moment belongs to the first of them that is under way.
A copy or a wait for data behind which a device computes costs nothing (XProf's
`xplane_to_step_events` orders them so, too). `rest` is what no event covers: Python,
waiting, gaps."""

PART_NAMES: Final[Mapping[Part, str]] = MappingProxyType(
    {
        "device": "the device",
        "communication": "communication between devices",
        "tracing": "tracing a tf.function",
        "compilation": "compiling",
        "input": "input wait",
        "copies": "copies",
        "compute": "host operations",
        "rest": "Python, waiting, and gaps",
    }
)

Kind: TypeAlias = Literal[
    "tracing",
    "compilation",
    "input",
    "copy",
    "kernel",
    "operation",
    "launch",
    "stage",
    "memory",
]
"""`launch`: a call of the host that starts work on a device, which is told apart from that work."""


@dataclass(frozen=True, slots=True)
class DeviceShare:
    """What one device does in the captured steps in which it works: sums over these steps."""

    name: str
    steps: int
    """In which it works."""
    seconds: float
    """Length of these steps."""
    computes_seconds: float
    communicates_seconds: float
    """Communication while it computes nothing: it waits for other devices."""
    copies_seconds: float
    """Copies between host and device while it does neither."""
    hidden_seconds: float
    """Communication while it computes."""

    @property
    def idle_seconds(self) -> float:
        """Neither computing nor communicating nor copying: it waits for the host."""
        busy = self.computes_seconds + self.communicates_seconds + self.copies_seconds
        return max(0.0, self.seconds - busy)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What devices do with their time in captured steps: shares that sum up to 1."""

    devices: tuple[str, ...]
    """Those that work in any of the steps."""
    computes: float
    waits_for_host: float
    waits_for_copies: float
    """Of data between host and device."""
    waits_for_others: float
    """Communication between devices behind which they compute nothing."""

    @property
    def idle(self) -> float:
        """The share in which they compute nothing."""
        return 1.0 - self.computes


def efficiency_of(shares: Sequence[DeviceShare]) -> Efficiency | None:
    """The mean of all devices that work, None where none does.

    >>> one = DeviceShare("/device:GPU:0", 10, 2.0, 0.5, 0.1, 0.2, 0.0)
    >>> found = efficiency_of([one])
    >>> round(found.computes, 3), round(found.waits_for_host, 3)
    (0.25, 0.6)
    """
    whole = sum(share.seconds for share in shares)
    if not whole > 0.0:
        return None
    return Efficiency(
        tuple(share.name for share in shares),
        sum(share.computes_seconds for share in shares) / whole,
        sum(share.idle_seconds for share in shares) / whole,
        sum(share.copies_seconds for share in shares) / whole,
        sum(share.communicates_seconds for share in shares) / whole,
    )


def tell_efficiency(found: Efficiency, within: str) -> str:
    """How busy devices are, and what they wait for, in a sentence without its end.

    Args:
      found: Of the steps.
      within: Of what the shares are: "each step".

    Example:
      >>> tell_efficiency(Efficiency(("/device:GPU:0",), 0.38, 0.5, 0.12, 0.0), "each step")
      'GPU:0 is idle 62% of each step: it waits for the host (50%) and for copies (12%)'
    """
    waits = [
        (share, what)
        for share, what in (
            (found.waits_for_host, "for the host"),
            (found.waits_for_copies, "for copies"),
            (found.waits_for_others, "for other devices"),
        )
        if share >= 0.005
    ]
    told = [
        what if len(waits) == 1 else f"{what} ({_percent(share)})"
        for share, what in sorted(waits, reverse=True)
    ]
    names = [device.removeprefix("/device:") for device in found.devices]
    is_one = len(names) == 1
    who = f"{names[0]} is" if is_one else f"{len(names)} devices are"
    start = f"{who} idle {_percent(found.idle)} of {within}"
    if not told:
        return start
    for_what = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
    return f"{start}: {'it waits' if is_one else 'they wait'} {for_what}"


def _percent(share: float) -> str:
    if 0.0 < share < 0.005:
        return "less than 1%"
    return f"{100 * share:.0f}%"


@dataclass(frozen=True, slots=True)
class CapturedItem:
    """An operation, a stage, a copy ... of the captured steps."""

    kind: Kind
    part: Part
    name: str
    seconds: float
    """Mean of a step: the time in which at least one call was under way; of a tf.data
    stage, without the stages that it asks."""


@dataclass(frozen=True, slots=True)
class CapturedAllocator:
    """What an allocator said of itself, from its allocations; NaN where it did not."""

    name: str
    """"GPU_0_bfc" ..."""
    samples: int
    in_use_bytes: float
    """The most seen at a moment."""
    peak_bytes: float
    """By its own account, since the program began."""
    reserved_bytes: float
    available_bytes: float
    """The least seen."""
    fragmentation: float
    """The most seen, 0 to 1: the share of the free bytes that is not in the largest free block."""
    largest_bytes: float
    """The largest single allocation seen."""

    @property
    def limit_bytes(self) -> float:
        """What it may hold."""
        return self.in_use_bytes + self.available_bytes

    @property
    def fullness(self) -> float:
        """How much of that was held at most: 0 to 1."""
        return self.in_use_bytes / self.limit_bytes if self.limit_bytes > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class CapturedSteps:
    """The steps of one capture that stand in the run's record."""

    session: str
    """Name of the capture, which is a time."""
    rows: tuple[int, int]
    """First and last, inclusive."""
    steps: int
    seconds: float
    """Mean of a step, as the profiler saw it."""
    parts: Mapping[Part, float]
    """Means of a step; they sum up to `seconds`."""
    items: tuple[CapturedItem, ...] = ()
    """Those with the most seconds, the largest first."""
    allocators: tuple[CapturedAllocator, ...] = ()
    devices: tuple[str, ...] = field(default=())
    shares: tuple[DeviceShare, ...] = ()
    """Of the devices that work in any of the capture's steps."""

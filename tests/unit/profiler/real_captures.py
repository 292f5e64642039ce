"""The recorded captures (`data/recorded/SOURCES.md`), and a second reading of them.

The second reading is made with TensorFlow's own protobuf classes and sums that are written
down here: it shares no code with the reader that it is held against.
"""

from __future__ import annotations

import importlib.util
import lzma
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parent / "data/recorded"
V100 = "tensorflow_v100_bert"
MI300 = "jax_mi300_conv"
H200 = "tensorflow_h200_fit"
READABLE = (V100, MI300, H200)
DAMAGED = "damaged_tpu"

COPIES = {
    "MemcpyH2D": "host_to_device",
    "MemcpyD2H": "device_to_host",
    "CopyDeviceToDevice": "within_device",
    "__amd_rocclr_copyBuffer.kd": "within_device",  # each launched by hipMemcpyDtoDAsync
}


def unpack(name: str) -> bytes:
    """A recorded capture as it was published."""
    return lzma.decompress((RECORDED / f"{name}.xplane.pb.xz").read_bytes())


def write(name: str, folder: Path) -> Path:
    """Puts a capture where profilers put them; returns its file."""
    path = folder / "plugins/profile/2026_01_01_00_00_00/vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(unpack(name))
    return path


@dataclass
class Second:
    """What the second reading says, in seconds."""

    devices: list[str] = field(default_factory=list)
    copies: dict[str, tuple[int, float, int]] = field(default_factory=dict)
    """Direction -> calls, seconds, bytes."""
    computes: dict[str, float] = field(default_factory=dict)
    """Device -> time in which any kernel is under way."""
    steps: list[float] = field(default_factory=list)
    kernels: dict[str, tuple[int, float]] = field(default_factory=dict)
    launches: int = 0
    """Events of the host with the correlation id of an event of a device."""


def read_with_protobuf(data: bytes) -> Second:
    """Reads a capture event by event."""
    space = _xplane_classes().XSpace()
    space.ParseFromString(data)
    second = Second()
    copies: dict[str, list[tuple[float, int]]] = defaultdict(list)
    kernels: dict[str, list[float]] = defaultdict(list)
    ids: dict[bool, list[int]] = {True: [], False: []}
    for plane in space.planes:
        is_device = plane.name.startswith("/device:GPU")
        if is_device:
            second.devices.append(plane.name)
        busy = []
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                stats = {plane.stat_metadata[stat.metadata_id].name: stat for stat in event.stats}
                if "correlation_id" in stats:
                    stat = stats["correlation_id"]
                    ids[is_device].append(stat.uint64_value or stat.int64_value)
                if is_device and line.name == "Steps":
                    second.steps.append(event.duration_ps / 1e12)
                if not is_device or not line.name.startswith("Stream #"):
                    continue
                way = COPIES.get(name)
                if way is not None:
                    stat = stats.get("memcpy_details")
                    told = (stat and stat.str_value) or (
                        plane.stat_metadata[stat.ref_value].name if stat else ""
                    )
                    size = told.partition("size:")[2].partition(" ")[0]
                    copies[way].append((event.duration_ps / 1e12, int(size or 0)))
                if way in (None, "within_device"):
                    kernels[name].append(event.duration_ps / 1e12)
                    begin = line.timestamp_ns * 1000 + event.offset_ps
                    busy.append((begin, begin + event.duration_ps))
        if is_device:
            second.computes[plane.name] = _covered(busy)
    second.copies = {
        way: (len(found), sum(took for took, _ in found), sum(size for _, size in found))
        for way, found in copies.items()
    }
    second.kernels = {name: (len(found), sum(found)) for name, found in kernels.items()}
    second.launches = sum(id_ in set(ids[True]) for id_ in ids[False])
    return second


def _covered(stretches: list[tuple[int, int]]) -> float:
    total, until = 0, 0
    for begin, end in sorted(stretches):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total / 1e12


def _xplane_classes() -> Any:
    """TensorFlow's module of that file, without the seconds that importing TensorFlow takes."""
    tensorflow = importlib.util.find_spec("tensorflow")
    if tensorflow is None or tensorflow.origin is None:
        pytest.skip("needs TensorFlow, whose protobuf classes read the capture a second time")
    path = Path(tensorflow.origin).parent / "tsl/profiler/protobuf/xplane_pb2.py"
    spec = importlib.util.spec_from_file_location("xplane_pb2_of_tensorflow", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

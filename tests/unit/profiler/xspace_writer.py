"""Traces made byte by byte: what no profiler would write, and what is known to the nanosecond."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

STARTED_NS = 1_795_000_000_000_000_000


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def content(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


class PlaneWriter:
    """One plane, with its tables of names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: dict[str, int] = {}
        self.stats: dict[str, int] = {}
        self.lines: list[bytes] = []

    def event(
        self, name: str, at_ns: int, took_ns: int, stats: dict[str, int] | None = None
    ) -> bytes:
        id_ = self.names.setdefault(name, len(self.names) + 1)
        parts = [number(1, id_), number(2, at_ns * 1000), number(3, took_ns * 1000)]
        for stat, value in (stats or {}).items():
            key = self.stats.setdefault(stat, len(self.stats) + 1)
            parts.append(content(4, number(1, key) + number(4, value)))
        return b"".join(parts)

    def line(self, name: str, events: Iterable[tuple], at_ns: int = 0) -> None:
        made = b"".join(content(4, self.event(*event)) for event in events)
        self.lines.append(number(1, 7) + content(2, name) + number(3, at_ns) + made)

    def plane_stats(self, **stats: int) -> bytes:
        return b"".join(
            content(
                6, number(1, self.stats.setdefault(name, len(self.stats) + 1)) + number(3, value)
            )
            for name, value in stats.items()
        )

    def bytes(self, stats: dict[str, int] | None = None) -> bytes:
        tail = self.plane_stats(**(stats or {}))
        tables = b"".join(
            content(field, number(1, id_) + content(2, number(1, id_) + content(2, name)))
            for field, table in ((4, self.names), (5, self.stats))
            for name, id_ in table.items()
        )
        lines = b"".join(content(3, line) for line in self.lines)
        return content(2, self.name) + lines + tables + tail


def task(seconds: float) -> bytes:
    """The plane in which TensorFlow says when the capture was."""
    stop = STARTED_NS + int(seconds * 1e9)
    times = {"profile_start_time": STARTED_NS, "profile_stop_time": stop}
    return PlaneWriter("Task Environment").bytes(times)


def space(*planes: bytes) -> bytes:
    return b"".join(content(1, plane) for plane in planes)


MILLISECOND = 1_000_000


def steps_of(
    steps: int, events: Sequence[tuple[str, str, int, int]], *, step_ms: int = 10
) -> bytes:
    """A trace of equal steps, each with the same events.

    Args:
      steps: How many.
      events: (line, name, milliseconds from the step's beginning, milliseconds that it takes).
      step_ms: How long each step is.
    """
    host = PlaneWriter("/host:CPU")
    begins = [index * step_ms * MILLISECOND for index in range(steps)]
    markers = [
        ("train", begin, step_ms * MILLISECOND, {"step_num": 100 + index})
        for index, begin in enumerate(begins)
    ]
    of_lines: dict[str, list[tuple]] = {"python": list(markers)}
    for line, name, at, took in events:
        of_lines.setdefault(line, []).extend(
            (name, begin + at * MILLISECOND, took * MILLISECOND) for begin in begins
        )
    for line, found in of_lines.items():
        host.line(line, found)
    return space(host.bytes(), task(steps * step_ms / 1e3))


GPU_WORK = (
    # (launched by, name, milliseconds from the step's beginning, milliseconds, stream)
    ("cuMemcpyHtoDAsync", "MEMCPYHtoD", 3, 4, "Stream #14(MemcpyH2D)"),
    ("cuLaunchKernel", "volta_sgemm_128x64_nn", 6, 8, "Stream #13(Compute,MemcpyD2H)"),
    ("cuLaunchKernel", "MEMCPYDtoH", 15, 1, "Stream #13(Compute,MemcpyD2H)"),
)


def gpu_steps(steps: int) -> bytes:
    """Steps of 20 ms in the form in which CUPTI's events are written.

    Plane, line, event and stat names are TensorFlow's (`cupti_collector.cc`,
    `xplane_schema.cc`); XProf joins launch and kernel by `correlation_id`. Made, not recorded.
    """
    host, device = PlaneWriter("/host:CPU"), PlaneWriter("/device:GPU:0")
    python: list[tuple] = []
    streams: dict[str, list[tuple]] = {}
    number_of = 1
    for step in range(steps):
        begin = step * 20 * MILLISECOND
        python.append(("train", begin, 20 * MILLISECOND, {"step_num": step, "_r": 1}))
        waits = begin + MILLISECOND // 2
        python.append(("IteratorGetNext:IteratorGetNext", waits, 2 * MILLISECOND))
        for place, (launch, name, at, took, stream) in enumerate(GPU_WORK):
            ids = {"correlation_id": number_of}
            launched = begin + 2_600_000 + place * 100_000
            python.append((launch, launched, 50_000, ids))
            streams.setdefault(stream, []).append(
                (name, begin + at * MILLISECOND, took * MILLISECOND, ids)
            )
            number_of += 1
    host.line("python", python)
    for stream, found in streams.items():
        device.line(stream, found)
    return space(host.bytes(), device.bytes(), task(steps * 0.02))

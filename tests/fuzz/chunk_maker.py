"""Any bytes to a chunk as a stranger may write it: well formed, with numbers that are not.

Bytes that protobuf refuses teach little about the code behind it. These become messages that
parse, with values that a writer of ours never sends, so that what reads them is reached.
"""

from __future__ import annotations

import math
import struct

import numpy as np

from tb_slowdown_plugin.catalog.collectors import SIGNALS
from tb_slowdown_plugin.catalog.names import (
    AGAIN,
    CALLBACK,
    CHECKPOINT,
    FIRST,
    FIRST_EXECUTION,
    GC,
    INPUT_WAIT,
    SUMMARY,
    TRACING,
    VALIDATION,
    XLA_COMPILATION,
    account,
)
from tb_slowdown_plugin.records import slowdown_pb2 as pb

REALS = (
    0.0, -0.0, 1.0, -1.0, 1e-300, 1e9, 1.8e9, 1e15, -1e15, 1e300, -1e300,
    math.nan, math.inf, -math.inf, 5e-324, 2.0**53, 2.0**63, 2.0**64,
)  # fmt: skip
WHOLES = (
    0, 1, 2, 255, 256, 1000, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**48, 2**48 + 1,
    2**53, 2**62, 2**63 - 1, -1, -2, -(2**31), -(2**62), -(2**63),
)  # fmt: skip
TEXTS = (
    "", "train", "x", "<script>alert(1)</script>", "../../../etc/passwd", "/etc/passwd",
    "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "a" * 5000, "\x00", "account/", "a\nb", "%s{0}",
    "nan", "slowdown/../..", "é", "\ud7ff", "javascript:alert(1)", "file:///etc/passwd",
)  # fmt: skip
KINDS = ("train", "eval", "<b>", "", "a" * 300)
ACCOUNTS = (
    INPUT_WAIT, GC, SUMMARY, CHECKPOINT, VALIDATION, XLA_COMPILATION, "made_up",
    account(TRACING, FIRST), account(TRACING, AGAIN), account(FIRST_EXECUTION, AGAIN),
    account(CALLBACK, "<img src=x>"), account(CALLBACK, "a" * 2000),
)  # fmt: skip
COLUMNS = ("inside", "process_cpu", "thread_cpu", "gap", "items", "kind", "unknown")
SERIES = (
    *(account(name, "GPU:0" if one.per_device else "") for name, one in SIGNALS.items()),
    "made_up",
    "",
)
FACTS = (
    "automatic_capture", "checkpoint", "optimizer_created", "python_stack", "stage", "made_up",
    "live_tensors", "xla_compilation", "capture", "batch_shape", "collectors",
)  # fmt: skip
NUMBERS = ("seconds", "bytes", "count", "slower", "share", "made_up")
_MOST_ROWS = 400
_MOST_SPECIAL = 3


class Draw:
    """Choices out of bytes; zeros when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_left(self) -> bool:
        return self._at < len(self._data)

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def pick(self, options):
        return options[self.byte() % len(options)]

    def chance(self, of_256: int) -> bool:
        return self.byte() < of_256

    def real(self) -> float:
        if self.chance(128):
            return self.pick(REALS)
        return struct.unpack("<d", bytes(self.byte() for _ in range(8)))[0]

    def whole(self, least: int = -(2**63), most: int = 2**63 - 1) -> int:
        value = self.pick(WHOLES) if self.chance(160) else self.byte()
        return min(max(value, least), most)

    def text(self) -> str:
        return self.pick(TEXTS)


def make_chunks(data: bytes) -> list[pb.Chunk]:
    """Up to three chunks of one session, or of several, in any order."""
    draw = Draw(data)
    return [_chunk(draw, index) for index in range(1 + draw.byte() % 3)]


def _chunk(draw: Draw, index: int) -> pb.Chunk:
    plain = draw.chance(200)
    chunk = pb.Chunk(
        schema=1,
        session="0123abcd" if plain else draw.text()[:200],
        sequence=index if plain else draw.whole(0),
        started=1.8e9 + 1000 * index if plain else draw.real(),
        first_row=index * _MOST_ROWS if draw.chance(180) else draw.whole(0),
    )
    rows = draw.pick((0, 1, 2, 30, 100, _MOST_ROWS))
    if rows:
        names = ["number", "period", *(name for name in COLUMNS if draw.chance(90))]
        names += [f"account/{draw.pick(ACCOUNTS)}" for _ in range(draw.byte() % 4)]
        chunk.steps.extend(_column(draw, name, rows) for name in names)
        chunk.kinds.extend(draw.pick(KINDS) for _ in range(draw.byte() % 4))
    samples = draw.pick((0, 0, 1, 5, 60))
    if samples:
        names = ["time", "row", *(draw.pick(SERIES) for _ in range(draw.byte() % 6))]
        chunk.signals.extend(_column(draw, name, samples) for name in names)
    for _ in range(draw.byte() % 12 if draw.is_left else 0):
        chunk.events.append(_event(draw))
    if draw.chance(120):
        _fill_environment(draw, chunk.environment)
    return chunk


def _column(draw: Draw, name: str, rows: int) -> pb.Column:
    column = pb.Column(name=name, rows=rows if draw.chance(250) else draw.whole(0, 2**32 - 1))
    how = draw.byte() % 8
    is_real = name == "items" or name in SERIES or name.startswith(("allocator", "gpu"))
    if how == 0:
        column.whole = draw.whole()
    elif how == 1:
        column.real = draw.real()
    elif how == 2:
        column.type = draw.byte() % 4
        column.shuffled = bytes(draw.byte() for _ in range(draw.byte()))
    elif is_real:
        values = 1e6 * np.random.default_rng(draw.byte()).random(rows)
        for _ in range(draw.byte() % _MOST_SPECIAL):
            values[draw.byte() % rows] = draw.real()
        column.type = pb.Column.FLOAT64
        column.shuffled = values.astype("<f8").view(np.uint8).reshape(rows, 8).T.tobytes()
    else:
        noise = np.random.default_rng(draw.byte())
        wholes = (noise.lognormal(0.0, 0.2, rows) * draw.pick((1, 1e3, 1e5, 1e7))).astype(np.int64)
        if name == "number":
            wholes = np.arange(rows)
        if name == "kind":
            wholes %= 3
        for _ in range(draw.byte() % _MOST_SPECIAL):
            wholes[draw.byte() % rows] = draw.whole()
        column.type = pb.Column.INT64
        column.shuffled = wholes.astype("<i8").view(np.uint8).reshape(rows, 8).T.tobytes()
    if draw.chance(30):
        column.before = draw.whole()
    return column


def _event(draw: Draw) -> pb.Event:
    event = pb.Event(row=draw.whole(0), time=1.8e9 if draw.chance(128) else draw.real())
    which = draw.byte() % 9
    if which < 3:
        event.trace.CopyFrom(
            pb.Trace(
                id=draw.byte() % 4,
                function=draw.text(),
                location=draw.text(),
                seconds=draw.real(),
                building_seconds=draw.real(),
                count=draw.whole(0),
                operations=draw.whole(0),
                depth=draw.whole(0, 2**32 - 1),
                cause=draw.byte() % 9,
                elsewhere=draw.chance(60),
                jit_compile=draw.chance(60),
                signature=[draw.text() for _ in range(draw.byte() % 3)],
                reason=draw.text(),
            )
        )
        for _ in range(draw.byte() % 3):
            what = draw.pick(("shape", "python_number", "dtype", "rank", "none", "made_up"))
            event.trace.changes.add(
                argument=draw.text(), what=what, before=draw.text(), after=draw.text()
            )
    elif which == 3:
        event.execution.CopyFrom(
            pb.Execution(trace=draw.byte() % 4, nth=draw.whole(0, 2**32 - 1), seconds=draw.real())
        )
    elif which == 4:
        event.gc_pause.CopyFrom(
            pb.GcPause(
                generation=draw.whole(0, 2**32 - 1), seconds=draw.real(), collected=draw.whole(0)
            )
        )
    elif which == 5:
        event.epoch.number = draw.whole()
    elif which == 6:
        event.idle.seconds = draw.real()
    elif which == 7:
        event.capture.CopyFrom(pb.Capture(session=draw.text(), running=draw.chance(128)))
    else:
        event.fact.CopyFrom(pb.Fact(name=draw.pick(FACTS), subject=draw.text()))
        for _ in range(draw.byte() % 4):
            event.fact.numbers[draw.pick(NUMBERS)] = draw.real()
    return event


def _fill_environment(draw: Draw, environment: pb.Environment) -> None:
    for _ in range(draw.byte() % 4):
        environment.versions[draw.text()] = draw.text()
        environment.limits[draw.pick(("cpu_count", "memory_limit_bytes", "x"))] = draw.real()
        environment.devices.add(name=draw.text(), kind=draw.pick(("GPU", "CPU", "<i>")))
        environment.collectors.add(
            name=draw.pick(("gc", "process_memory", "cpu_contention", "<b>")),
            status=draw.pick(("running", "unavailable", "off", "failed", "made_up")),
            reason=draw.text(),
        )
    environment.worker.index = draw.whole(0, 2**32 - 1)
    environment.worker.count = draw.whole(0, 2**32 - 1)

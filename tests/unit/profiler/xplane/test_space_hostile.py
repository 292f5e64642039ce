"""Truncated, foreign and hostile files: a note or a refusal, and bounded work."""

from __future__ import annotations

import gzip
import os
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.profiler.xspace_writer import (
    MILLISECOND,
    PlaneWriter,
    content,
    number,
    space,
    steps_of,
    task,
    varint,
)

from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import MOST_STEPS, nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane import space as space_module
from tb_slowdown_plugin.profiler.xplane.space import Space, UnreadableError

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vm.xplane.pb"


def read(path: Path, data: bytes) -> CaptureTrace:
    path.write_bytes(data)
    return read_trace(path, nothing_recorded())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\x0a", "empty"),
        (b"<html>this is no trace</html>", "no trace"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 100, "no trace"),
        (b"\x00" * 1000, "no trace"),
        (b"\xff" * 1000, "no trace"),
        (b"\x0b" * 1000, "no trace"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(path: Path, data: bytes, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read(path, data)


def test_a_file_that_is_too_large_is_refused_unread(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)  # takes no room on the disk
    with pytest.raises(UnreadableError, match=r"10,737 MB.*capture fewer steps"):
        read_trace(path, nothing_recorded())


def test_a_claimed_size_of_10_gb_is_cut_at_the_end_of_the_file(path: Path) -> None:
    whole = steps_of(3, [("tf_Compute/1", "a/MatMul:MatMul", 1, 4)])
    plane = first_plane(whole)
    claimed = b"\x0a" + varint(10 << 30) + plane
    trace = read(path, claimed)
    assert any("ends too early" in note for note in trace.notes)
    assert [item.name for item in trace.items] == ["a/MatMul:MatMul"]


def first_plane(whole: bytes) -> bytes:
    size = shift = 0
    for at, byte in enumerate(whole[1:], 2):
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return whole[at : at + size]
    raise AssertionError


def test_a_truncated_capture_is_read_as_far_as_it_goes(path: Path) -> None:
    """Names come after the events, so a cut capture may have none: it must say so or be refused."""
    data = gzip.decompress((DATA / "retrace.xplane.pb.gz").read_bytes())
    for keep in range(16, len(data), len(data) // 40):
        try:
            trace = read(path, data[:keep])
        except UnreadableError:
            continue
        assert trace.notes, keep


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_random_damage_never_gets_past_the_reader(seed: int, places: int) -> None:
    import tempfile

    chance = random.Random(seed)
    data = bytearray(
        steps_of(5, [("tf_data_a/1", "Iterator::Root::Map", 1, 4), ("x/2", "a:MatMul", 2, 3)])
    )
    for _ in range(places):
        data[chance.randrange(len(data))] = chance.randrange(256)
    with tempfile.TemporaryDirectory() as folder:
        try:
            trace = read(Path(folder) / "vm.xplane.pb", bytes(data))
        except UnreadableError:
            return
        total = sum(trace.parts.values())
        assert np.all(np.isfinite(total))
        assert np.all(trace.cell_seconds >= 0.0)


def test_deep_nesting_is_just_bytes(path: Path) -> None:
    nested = b""
    for _ in range(3000):
        nested = content(4, nested)
    host = PlaneWriter("/host:CPU")
    host.line("python", [("train", 0, MILLISECOND, {"step_num": 1})])
    data = space(host.bytes() + nested, task(1.0))
    assert read(path, data).steps.number.tolist() == [1]


def test_wrong_wire_types_are_counted_not_believed(path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line("python", [("train", 0, MILLISECOND, {"step_num": 1})])
    odd = content(4, b"\x0d\x01\x02\x03\x04") * 3 + content(4, b"\x08" + b"\xff" * 9 + b"\x01")
    host.lines.append(content(2, "odd") + odd)
    trace = read(path, space(host.bytes(), task(1.0)))
    assert "4 events can't be read and are left out." in trace.notes
    assert trace.steps.number.tolist() == [1]


def test_more_events_than_are_read_are_cut_with_a_note(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_module, "MOST_EVENTS", 1000)
    trace = read(path, steps_of(100, [("x/1", f"a{n}:Add", 1, 1) for n in range(20)]))
    assert trace.events == 1000
    assert "More than 1,000 events: the others are left out." in trace.notes


def test_more_steps_than_are_told_apart(path: Path) -> None:
    trace = read(path, steps_of(MOST_STEPS + 10, [("x/1", "a:Add", 1, 1)]))
    assert len(trace.steps) == MOST_STEPS


def test_absurd_times_do_not_overflow(path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    year = 3 * 10**16 // 1000
    host.line("python", [("train", n * year // 50, year // 50, {"step_num": n}) for n in range(40)])
    host.line("x/1", [("a:Add", n * year // 80, year) for n in range(40)])
    trace = read(path, space(host.bytes()))
    assert np.all(
        trace.cell_seconds <= (trace.steps.ends - trace.steps.begins)[trace.cell_step] * 1.001
    )
    assert any("does not tell when" in note for note in trace.notes)


MANY = 2_000_000
FIELDS = 100_000
"""Instead of the two million that are read: the tests are to be quick."""
BOMBS = {
    # Two bytes each: whatever is counted, kept or only passed over, a million fit in 2 MB.
    "planes": b"\x0a\x00" * MANY,
    "host names": b"\x22\x00" * MANY,
    "lines": space(content(2, "/host:CPU") + b"\x1a\x00" * MANY),
    "names": space(content(2, "/host:CPU") + b"\x22\x06\x12\x04\x08\x01\x12\x00" * (MANY // 8)),
    "stats of a plane": space(content(2, "/host:CPU") + b"\x32\x00" * MANY),
    "fields of a line": space(content(2, "/host:CPU") + content(3, b"\x08\x01" * MANY)),
    "empty events": space(content(2, "/host:CPU") + content(3, b"\x22\x00" * MANY)),
    "stats of an event": space(
        content(2, "/host:CPU") + content(3, content(4, b"\x08\x01" + b"\x22\x00" * MANY))
    ),
}
READ_IN_LITTLE_MEMORY = """
import resource, sys
from pathlib import Path
from tb_slowdown_plugin.profiler.xplane import space
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.profiler.steps import nothing_recorded

space.MOST_FIELDS = int(sys.argv[3])
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
try:
    trace = read_trace(Path(sys.argv[1]), nothing_recorded())
    print(trace.events, *trace.notes, sep="\\n")
except UnreadableError as error:
    print("refused:", error)
"""


def read_within(path: Path, megabytes: int) -> str:
    """What reading says in a process that may not take more than so much address space.

    The interpreter, numpy and the file itself, which is mapped, are in it.
    """
    command = [
        sys.executable,
        "-c",
        READ_IN_LITTLE_MEMORY,
        str(path),
        str(megabytes << 20),
        str(FIELDS),
    ]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("what", BOMBS)
def test_megabytes_of_nothing_take_little_time_and_memory(path: Path, what: str) -> None:
    path.write_bytes(BOMBS[what])
    said = read_within(path, 400)
    if what == "stats of an event":
        assert said.startswith("1\n")  # the first of them are looked at
    elif what == "empty events":
        assert said.startswith(f"{MANY}\n")  # they are events, and short
    else:
        assert re.search(r"more than|left out", said), said


def test_a_billion_events_that_a_file_claims_are_those_that_it_has(path: Path) -> None:
    """Packed: the line says that it is as long as a billion events would be."""
    claimed = b"\x1a" + varint(2_000_000_000) + b"\x22\x02\x08\x01" * 1000
    path.write_bytes(b"\x0a" + varint(2_000_000_100) + content(2, "/host:CPU") + claimed)
    said = read_within(path, 500)
    assert said.startswith("1000\n")
    assert "ends too early" in said


def test_events_that_last_over_all_steps_are_cut_with_a_note(path: Path) -> None:
    """180 KB, which would be sixteen million pieces."""
    host = PlaneWriter("/host:CPU")
    markers = [("train", n * MILLISECOND, MILLISECOND, {"step_num": n}) for n in range(5000)]
    host.line("python", markers)
    host.line("x/1", [(f"a{n % 300}:Add", n, 5000 * MILLISECOND) for n in range(3300)])
    path.write_bytes(space(host.bytes(), task(5.0)))
    assert "events last over too many steps and are left out." in read_within(path, 1000)


def test_a_large_capture_takes_little_time_and_memory(path: Path) -> None:
    """A million events (about 20 MB), in this process; the promise is for 100 MB."""
    host = PlaneWriter("/host:CPU")
    markers = [("train", n * MILLISECOND, MILLISECOND, {"step_num": n}) for n in range(1000)]
    host.line("python", markers)
    host.line("x/1", [("a:Add", n * 100, 90) for n in range(100_000)])
    line = host.lines.pop()
    host.lines += [line] * 10
    path.write_bytes(space(host.bytes(), task(1.0)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    trace = read_trace(path, nothing_recorded())
    spent = time.process_time() - began
    assert trace.events == 1_001_000
    assert len(trace.steps) == 1000
    assert spent < 6.0  # measured: 0.5 s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # measured: 90 MB


def test_nothing_of_the_file_is_opened_by_name(path: Path) -> None:
    path.write_bytes(steps_of(2, []))
    opened = Space(path)
    assert [plane.name for plane in opened.planes] == ["/host:CPU", "Task Environment"]
    assert number(1, 300) == b"\x08\xac\x02"

"""Truncated, foreign and hostile files: a note or a refusal, and bounded work."""

from __future__ import annotations

import gzip
import random
import resource
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.traces.xspace_writer import (
    MILLISECOND,
    PlaneWriter,
    content,
    number,
    space,
    steps_of,
    task,
    varint,
)

from tb_slowdown_plugin.traces import space as space_module
from tb_slowdown_plugin.traces.read import read_trace
from tb_slowdown_plugin.traces.space import Space, UnreadableError
from tb_slowdown_plugin.traces.steps import MOST_STEPS, nothing_recorded
from tb_slowdown_plugin.traces.types import Trace

DATA = Path(__file__).parent / "data"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vm.xplane.pb"


def read(path: Path, data: bytes) -> Trace:
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

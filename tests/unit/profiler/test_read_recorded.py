"""Real captures give the numbers that XProf gives of the same files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_slowdown_plugin.profiler.compare import compare
from tb_slowdown_plugin.profiler.json_body import adds
from tb_slowdown_plugin.profiler.read import read_range, read_trace
from tb_slowdown_plugin.profiler.steps import Recorded, nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace

DATA = Path(__file__).parent / "data"
NAMES = ["heavy", "retrace"]
SAID = json.loads((DATA / "xprof.json").read_text())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("captures")
    for name in NAMES:
        packed = (DATA / f"{name}.xplane.pb.gz").read_bytes()
        (folder / f"{name}.xplane.pb").write_bytes(gzip.decompress(packed))
    return {name: folder / f"{name}.xplane.pb" for name in NAMES}


@pytest.fixture(scope="module")
def traces(files: dict[str, Path]) -> dict[str, CaptureTrace]:
    return {name: read_trace(path, nothing_recorded()) for name, path in files.items()}


@pytest.mark.parametrize("name", NAMES)
def test_steps_and_waits_are_those_of_xprof(traces: dict[str, CaptureTrace], name: str) -> None:
    """XProf leaves out the first and the last step, and the gap between two steps."""
    trace = traces[name]
    assert trace.steps.by == "step_num"
    assert trace.steps.number.tolist() == list(range(10))
    seconds = trace.steps.ends - trace.steps.begins
    assert len(SAID[name]["steps"]) == 8
    for step, said in SAID[name]["steps"].items():
        assert seconds[int(step)] == pytest.approx(said["seconds"], abs=3e-5)
        assert seconds[int(step)] >= said["seconds"]
        assert trace.parts["input"][int(step)] == pytest.approx(said["input"], abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_operations_and_stages_take_what_xprof_says(
    traces: dict[str, CaptureTrace], name: str
) -> None:
    busy = {item.name: item.busy_seconds for item in traces[name].items}
    compared = 0
    for operation, seconds in SAID[name]["operations"].items():
        ours = busy.get(operation.removesuffix(":Dataset"))
        if ours is not None:
            assert ours == pytest.approx(seconds, rel=0.05, abs=2e-6), operation
            compared += 1
    assert compared >= 8


def test_allocators_peak_where_xprof_says(traces: dict[str, CaptureTrace]) -> None:
    (allocator,) = traces["heavy"].allocators
    assert {allocator.name: allocator.peak_bytes} == SAID["heavy"]["peak_bytes"]
    assert allocator.largest_bytes == 994304
    assert 0.0 < allocator.fragmentation < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_parts_sum_up_to_the_step(traces: dict[str, CaptureTrace], name: str) -> None:
    trace = traces[name]
    total = sum(trace.parts.values())
    np.testing.assert_allclose(total, trace.steps.ends - trace.steps.begins, atol=2e-9)


def test_a_retraced_step_is_seen_though_xprof_says_host_compute(
    traces: dict[str, CaptureTrace],
) -> None:
    trace = traces["retrace"]
    assert trace.parts["tracing"].argmax() == 5
    assert trace.parts["tracing"][5] == pytest.approx(0.0703, abs=1e-3)
    assert np.delete(trace.parts["tracing"], 5).max() == 0.0
    (function,) = trace.functions
    assert (function.name, function.calls, function.traced) == ("step", 10, 1)
    assert adds(trace)[0] == "`step`: traced in 1 of 10 calls."


def test_the_comparison_names_the_slow_stage(traces: dict[str, CaptureTrace]) -> None:
    found = compare(traces["retrace"], traces["heavy"])
    assert found.rows[0].kind == "stage"
    assert found.rows[0].name == "Iterator::Root::Prefetch::MapAndBatch"
    assert "more in input wait, most in `Iterator::MapAndBatch`" in found.headline
    back = compare(traces["heavy"], traces["heavy"])
    assert {row.difference for row in back.rows} == {0.0}
    assert "no more than the fast one" in back.headline


def test_without_markers_steps_come_from_the_record(files: dict[str, Path], tmp_path: Path) -> None:
    """The same capture with its markers made unreadable, and a record of when steps ended."""
    marked = read_trace(files["heavy"], nothing_recorded())
    data = files["heavy"].read_bytes()
    assert data.count(b"step_num") == 1
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(data.replace(b"step_num", b"step_xxx"))
    whole = read_trace(path, nothing_recorded())
    assert (whole.steps.by, len(whole.steps)) == ("whole", 1)
    ends = marked.started + marked.steps.ends
    recorded = Recorded(np.arange(40, 50), ends, np.full(10, 0.017))
    found = read_trace(path, recorded)
    assert found.steps.by == "wall_clock"
    assert found.steps.number.tolist() == list(range(41, 50))
    assert found.steps.row.tolist() == list(range(1, 10))
    np.testing.assert_allclose(found.parts["input"], marked.parts["input"][1:], atol=2e-6)


def test_marked_steps_find_their_rows(files: dict[str, Path]) -> None:
    started, seconds = read_range(files["heavy"])
    marked = read_trace(files["heavy"], nothing_recorded())
    assert (started, seconds) == (marked.started, marked.seconds)
    ends = marked.started + marked.steps.ends
    # A resumed run: the same step numbers stood in its record an hour ago.
    recorded = Recorded(
        np.tile(np.arange(10), 2), np.concatenate([ends - 3600.0, ends + 2e-4]), np.full(20, 0.02)
    )
    found: Any = read_trace(files["heavy"], recorded)
    assert found.steps.row.tolist() == list(range(10, 20))

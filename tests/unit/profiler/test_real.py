"""Captures of real hardware: our reader and a second one, which shares no code, say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from unit.profiler.real_captures import (
    DAMAGED,
    H200,
    MI300,
    READABLE,
    V100,
    Second,
    read_with_protobuf,
    unpack,
)

from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError

WITHIN = 0.02


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaptureTrace]:
    folder = tmp_path_factory.mktemp("recorded")
    found = {}
    for name in READABLE:
        path = folder / f"{name}.xplane.pb"
        path.write_bytes(unpack(name))
        found[name] = read_trace(path, nothing_recorded())
    return found


@pytest.fixture(scope="module")
def seconds() -> dict[str, Second]:
    return {name: read_with_protobuf(unpack(name)) for name in READABLE}


@pytest.mark.parametrize("name", READABLE)
def test_copies_by_direction(
    traces: dict[str, CaptureTrace], seconds: dict[str, Second], name: str
) -> None:
    ours, second = traces[name].copied, seconds[name].copies
    assert ours.keys() == second.keys()
    for way, (calls, spent, size) in second.items():
        assert ours[way].calls == calls
        assert ours[way].seconds == pytest.approx(spent, rel=WITHIN)
        assert ours[way].bytes == (size or None)


def test_the_copies_of_the_v100s_are_not_counted_with_their_launches(
    traces: dict[str, CaptureTrace],
) -> None:
    """The host's calls have the same names and take seven times as long."""
    ours = traces[V100].copied
    assert ours["host_to_device"].calls == 202
    assert ours["host_to_device"].seconds == pytest.approx(0.39e-3, abs=0.005e-3)
    assert ours["device_to_host"].seconds == pytest.approx(0.08e-3, abs=0.005e-3)
    assert float(np.sum(traces[V100].parts["copies"])) < 0.1e-3


@pytest.mark.parametrize("name", READABLE)
def test_each_device_computes_as_long(
    traces: dict[str, CaptureTrace], seconds: dict[str, Second], name: str
) -> None:
    trace, second = traces[name], seconds[name]
    assert list(trace.devices) == second.devices
    assert len(trace.devices) == (1 if name == H200 else 8)
    for device, spent in second.computes.items():
        assert trace.device_seconds[device] == pytest.approx(spent, rel=WITHIN)
    in_steps = {share.name: share.computes_seconds for share in device_shares(trace)}
    inside = 9 / 11 if name == H200 else 1.0  # of its eleven batches two have no marker
    for device, spent in in_steps.items():
        assert spent == pytest.approx(inside * second.computes[device], rel=WITHIN)
    assert in_steps.keys() == {name for name, spent in second.computes.items() if spent}


def test_steps_are_those_of_the_devices_own_line(
    traces: dict[str, CaptureTrace], seconds: dict[str, Second]
) -> None:
    steps = traces[V100].steps
    assert steps.by == "step_line"
    assert (steps.ends - steps.begins).tolist() == pytest.approx(seconds[V100].steps, rel=WITHIN)
    assert (steps.ends - steps.begins).tolist() == pytest.approx([0.0199, 0.0213], rel=0.01)


def test_small_kernels_of_a_large_device_leave_it_waiting_for_the_host(
    traces: dict[str, CaptureTrace],
) -> None:
    """A `fit` with a tiny model on an H200, nine of its batches."""
    trace = traces[H200]
    assert (trace.steps.by, len(trace.steps)) == ("step_num", 9)
    (share,) = device_shares(trace)
    assert share.computes_seconds / share.seconds == pytest.approx(0.04, abs=0.005)
    launched = sum(each.calls for each in trace.totals if each.kind == "launch")
    assert launched == 11 * 129  # in each batch; 33 of them of cuDNN's `engines_precompiled`


def test_a_capture_without_steps_is_what_devices_did_in_it(traces: dict[str, CaptureTrace]) -> None:
    trace = traces[MI300]
    assert (trace.steps.by, len(trace.steps)) == ("whole", 1)
    assert trace.steps.ends[0] - trace.steps.begins[0] == pytest.approx(0.1385, rel=WITHIN)
    assert trace.seconds == pytest.approx(0.1643, rel=WITHIN)
    assert float(trace.parts["copies"][0]) == 0.0


@pytest.mark.parametrize("name", READABLE)
def test_the_ten_operations_with_the_most_time(
    traces: dict[str, CaptureTrace], seconds: dict[str, Second], name: str
) -> None:
    ours = [total for total in traces[name].totals if total.kind == "kernel"][:10]
    theirs = sorted(seconds[name].kernels.items(), key=lambda pair: -pair[1][1])[:10]
    assert len(theirs) >= 6
    assert [total.seconds for total in ours] == pytest.approx(
        [spent for _, (_, spent) in theirs], rel=WITHIN
    )
    assert [total.calls for total in ours] == [calls for _, (calls, _) in theirs]
    # Names are cut at 1,000 characters.
    assert {total.name[:900] for total in ours} == {called[:900] for called, _ in theirs}


@pytest.mark.parametrize("name", READABLE)
def test_launches_are_told_apart_from_what_they_launch(
    traces: dict[str, CaptureTrace], seconds: dict[str, Second], name: str
) -> None:
    launches = [total for total in traces[name].totals if total.kind == "launch"]
    # TensorFlow copies between buffers of the host under such a name, too.
    launched = sum(total.calls for total in launches if total.name != "launch of MemCpyAsync")
    assert launched == seconds[name].launches
    assert {total.part for total in launches} == {"compute"}


def test_allocators_of_both_devices(traces: dict[str, CaptureTrace]) -> None:
    of_name = {allocator.name: allocator for allocator in traces[V100].allocators}
    assert of_name["GPU_4_bfc"].samples == 974
    assert of_name["GPU_4_bfc"].fragmentation == pytest.approx(0.0228, abs=1e-3)
    assert of_name["GPU_6_bfc"].fragmentation == pytest.approx(0.0374, abs=1e-3)


def test_parts_sum_up_to_the_steps(traces: dict[str, CaptureTrace]) -> None:
    for trace in traces.values():
        total = sum(trace.parts.values())
        np.testing.assert_allclose(total, trace.steps.ends - trace.steps.begins, atol=2e-9)
        for share in device_shares(trace):
            busy = share.computes_seconds + share.communicates_seconds + share.copies_seconds
            assert busy + share.idle_seconds == pytest.approx(share.seconds)


def test_the_file_that_was_published_broken_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(unpack(DAMAGED))
    with pytest.raises(UnreadableError) as refused:
        read_trace(path, nothing_recorded())
    assert str(refused.value) == (
        "the file is damaged: something copied it as text (UTF-8), which can't be undone; "
        "copy the capture again"
    )

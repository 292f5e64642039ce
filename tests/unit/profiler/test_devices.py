"""Made captures of devices: which lines count, nested operations, steps, waits for others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from unit.profiler.xspace_writer import MILLISECOND, STARTED_NS, PlaneWriter, space, task

from tb_slowdown_plugin.profiler.compare import compare
from tb_slowdown_plugin.profiler.event_names import meaning
from tb_slowdown_plugin.profiler.hints import hints
from tb_slowdown_plugin.profiler.intervals import own
from tb_slowdown_plugin.profiler.json_body import adds, trace_body
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.steps import Recorded, nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.records.capture import efficiency_of, tell_efficiency


def milliseconds(events):
    return [
        (name, at * MILLISECOND, took * MILLISECOND, *stats) for name, at, took, *stats in events
    ]


def trace_of(tmp_path: Path, *planes: PlaneWriter, recorded=None) -> CaptureTrace:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(space(*(plane.bytes() for plane in planes), task(0.1)))
    return read_trace(path, recorded or nothing_recorded())


def tpu(steps: int = 2) -> PlaneWriter:
    """The lines of a TPU as libtpu writes them: most of them say again what XLA Ops say."""
    device = PlaneWriter("/device:TPU:0")
    of_steps, ops, again, behind, counters = [], [], [], [], []
    for step in range(steps):
        at = 10 * step
        of_steps.append((str(70 + step), at, 10, {"group_id": step}))
        ops += [
            ("%while.3 = (s32[], f32[8]) while(%all-reduce.1), body=%b", at, 6),
            ("fusion.1", at + 1, 2),
            ("fusion.1", at + 3, 2),
            ("all-reduce-done.2", at + 6, 1),
            ("infeed.1", at + 8, 1),
        ]
        again.append(("jit_train", at, 9))
        behind += [("all-reduce-start.2", at + 4, 3), ("copy-start.1", at, 9)]
        counters += [("% util", at + n, 1) for n in range(10)]
    device.line("Steps", milliseconds(of_steps))
    for name in ("XLA Modules", "XLA TraceMe", "Tensor Core", "TC Overlay", "Overlay"):
        device.line(name, milliseconds(again))
    device.line("XLA Ops", milliseconds(ops))
    device.line("Async XLA Ops", milliseconds(behind))
    device.line("_counters_", milliseconds(counters))
    return device


def test_a_tpu_is_what_its_operations_are_each_moment_once(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, tpu())
    mean = {part: float(np.mean(spent)) * 1e3 for part, spent in trace.parts.items() if any(spent)}
    assert mean == pytest.approx({"device": 6, "communication": 1, "copies": 1, "rest": 2})
    assert trace.device_seconds == {"/device:TPU:0": pytest.approx(0.012)}
    totals = {total.name: total for total in trace.totals}
    # The loop has 6 ms, of which 4 are its body's.
    assert (totals["while.3"].calls, totals["while.3"].seconds) == (2, pytest.approx(0.004))
    assert (totals["fusion.1"].calls, totals["fusion.1"].seconds) == (4, pytest.approx(0.008))
    assert "% util" not in totals
    assert "copy-start.1" not in totals
    assert trace.copied["host_to_device"].seconds == pytest.approx(0.002)
    assert trace.copied["host_to_device"].bytes is None


def test_steps_of_a_tpu_have_the_numbers_of_the_record_else_its_own(tmp_path: Path) -> None:
    ended = STARTED_NS / 1e9 + np.array([-0.010, 0.0, 0.0101, 0.0201])
    recorded = Recorded(np.arange(40, 44), ended, np.full(4, 0.010))
    steps = trace_of(tmp_path, tpu(), recorded=recorded).steps
    assert (steps.by, steps.number.tolist(), steps.row.tolist()) == ("step_line", [42, 43], [2, 3])
    assert trace_of(tmp_path, tpu()).steps.number.tolist() == [70, 71]
    assert steps.begins.tolist() == [0.0, 0.01]


def test_communication_is_exposed_or_hidden(tmp_path: Path) -> None:
    (share,) = device_shares(trace_of(tmp_path, tpu()))
    assert (share.steps, share.seconds) == (2, pytest.approx(0.020))
    assert share.computes_seconds == pytest.approx(0.012)
    assert share.communicates_seconds == pytest.approx(0.002)
    assert share.hidden_seconds == pytest.approx(0.004)
    assert share.copies_seconds == pytest.approx(0.002)
    assert share.idle_seconds == pytest.approx(0.004)
    efficiency = efficiency_of((share,))
    assert efficiency is not None
    assert tell_efficiency(efficiency, "each step") == (
        "TPU:0 is idle 40% of each step: it waits for the host (20%), for other devices (10%) "
        "and for copies (10%)"
    )


def gpu(number: int, *, begins: int, kernels, copies=(), group: bool = False) -> PlaneWriter:
    device = PlaneWriter(f"/device:GPU:{number}")
    stats = ({"group_id": 5},) if group else ()
    made = [
        (name, begins + at, took, *({"group_id": at // 20} for _ in stats))
        for name, at, took in kernels
    ]
    device.line("Stream #13(Compute)", milliseconds(made))
    device.line("TensorFlow Ops", milliseconds(made))
    if copies:
        device.line("Stream #14(MemcpyH2D)", milliseconds(copies))
    return device


def test_steps_are_found_by_the_groups_of_kernels(tmp_path: Path) -> None:
    kernels = [("gemm", 0, 4), ("relu", 10, 5), ("gemm", 20, 4), ("relu", 30, 5)]
    trace = trace_of(
        tmp_path,
        gpu(0, begins=0, kernels=kernels, group=True),
        gpu(1, begins=1, kernels=kernels, group=True),
    )
    assert trace.steps.by == "group_id"
    # Gaps between kernels of a group are the step's, and so is the one before its first kernel.
    assert trace.steps.begins.tolist() == [0.0, 0.016]
    assert trace.steps.ends.tolist() == [0.016, 0.036]
    assert [share.computes_seconds for share in device_shares(trace)] == pytest.approx([0.018] * 2)


def test_each_device_waits_on_its_own(tmp_path: Path) -> None:
    """One computes while the other communicates: that is no waiting for the host."""
    nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    host = PlaneWriter("/host:CPU")
    host.line("python", milliseconds([("train", 0, 20, {"step_num": 3})]))
    trace = trace_of(
        tmp_path,
        gpu(0, begins=0, kernels=[("gemm", 0, 10)], copies=[("MemcpyH2D", 12, 4)]),
        gpu(1, begins=0, kernels=[("gemm", 0, 2), (nccl, 1, 9)]),
        gpu(2, begins=0, kernels=()),
        host,
    )
    one, other = device_shares(trace)
    assert (one.name, one.computes_seconds, one.idle_seconds) == (
        "/device:GPU:0", pytest.approx(0.010), pytest.approx(0.006),
    )  # fmt: skip
    assert (other.communicates_seconds, other.hidden_seconds) == pytest.approx((0.008, 0.001))
    assert other.idle_seconds == pytest.approx(0.010)
    mean = {part: round(float(spent[0]), 6) for part, spent in trace.parts.items() if spent[0]}
    assert mean == {"device": 0.010, "copies": 0.004, "rest": 0.006}  # some device computes
    assert adds(trace)[-1] == (
        "2 devices are idle 70% of each step: they wait for the host (40%), for other devices "
        "(20%) and for copies (10%)."
    )
    body = trace_body(trace, (0, 0))
    assert [share["name"] for share in body["shares"]] == ["/device:GPU:0", "/device:GPU:1"]
    assert any("wait for other devices" in hint for hint in hints(trace))


@pytest.mark.parametrize(("name", "is_fused"), [("relu", False), ("loop_add_fusion_3", True)])
def test_what_xla_has_fused_is_not_to_be_fused(tmp_path: Path, name: str, is_fused: bool) -> None:
    host = PlaneWriter("/host:CPU")
    host.line("python", milliseconds([("train", 0, 20, {"step_num": 3})]))
    device = PlaneWriter("/device:GPU:0")
    short = [(name, at * MILLISECOND, MILLISECOND // 50) for at in range(20)]
    device.line("Stream #13(Compute)", short)
    (hint,) = [each for each in hints(trace_of(tmp_path, host, device)) if "launches" in each]
    assert ("jit_compile" in hint) is not is_fused
    assert hint.endswith("use larger batches.")


def test_two_captures_of_several_devices_add_up(tmp_path: Path) -> None:
    def captured(*, slower: int) -> CaptureTrace:
        host = PlaneWriter("/host:CPU")
        host.line("python", milliseconds([("train", 0, 20 + slower, {"step_num": 3})]))
        kernels = [("gemm", 0, 10), ("ncclAllReduce", 10, 5 + slower)]
        devices = [gpu(n, begins=0, kernels=kernels) for n in (0, 1)]
        return trace_of(tmp_path, host, *devices)

    found = compare(captured(slower=0), captured(slower=10))
    assert found.slow_seconds - found.fast_seconds == pytest.approx(0.010)
    assert sum(after - before for _, before, after in found.parts) == pytest.approx(0.010)
    assert (found.rows[0].name, found.rows[0].part) == ("ncclAllReduce", "communication")
    assert found.rows[0].difference == pytest.approx(0.010)


def test_the_call_that_launched_a_copying_kernel_says_which_way(tmp_path: Path) -> None:
    """ROCm copies with kernels of one name in both directions."""
    host = PlaneWriter("/host:CPU")
    host.line(
        "Host Threads/1",
        milliseconds(
            [
                ("hipMemcpyHtoDAsync", 0, 1, {"correlation_id": 1}),
                ("hipMemcpyDtoDAsync", 1, 1, {"correlation_id": 2}),
            ]
        ),
    )
    device = PlaneWriter("/device:GPU:0")
    blit = "__amd_rocclr_copyBuffer.kd"
    device.line(
        "Stream #1(Kernel)",
        milliseconds([(blit, 2 * n, n, {"correlation_id": n}) for n in (1, 2, 3)]),
    )
    copied = trace_of(tmp_path, device, host).copied
    assert copied["host_to_device"].seconds == pytest.approx(0.001)
    assert copied["within_device"].calls == 2
    assert copied["within_device"].seconds == pytest.approx(0.005)


def test_devices_that_report_nothing_are_said_to(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line("python", milliseconds([("train", 0, 20, {"step_num": 3}), ("MemcpyH2D", 1, 2)]))
    trace = trace_of(tmp_path, PlaneWriter("/device:GPU:0"), host)
    assert any("The devices say nothing" in note for note in trace.notes)
    assert device_shares(trace) == ()
    assert efficiency_of(()) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("all-reduce.17", "communication"),
        ("all-gather-start", "communication"),
        ("reduce-scatter.2", "communication"),
        ("fusion.2", "device"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "communication"),
        ("void rcclKernel(int)", "communication"),
        ("MemcpyP2P", "communication"),
        ("recv-done.3", "communication"),
        ("reduce_kernel(ncclComm*)", "device"),
        ("outfeed.1", "copies"),
        ("copy.12", "device"),
        ("sendrecv_fusion", "device"),
    ],
)
def test_parts_of_names_on_a_device(name: str, part: str) -> None:
    found = meaning(name, input_thread=False, device=True)
    assert found is not None
    assert found.part == part


def test_own_time_of_stretches_that_begin_together_end_together_or_cross() -> None:
    begins, ends = np.array([0, 0, 4, 6, 20, 20]), np.array([10, 4, 8, 12, 20, 24])
    found = own(begins, ends)
    assert found is not None
    spent = np.bincount(found.source, found.ends - found.begins, 6)
    assert spent.tolist() == [0, 4, 2, 6, 0, 4]
    assert spent.sum() == 16
    assert np.bincount(found.source, found.first, 6).tolist() == [0, 1, 1, 1, 1, 1]
    assert own(np.array([0, 5]), np.array([5, 9])) is None

"""Made traces whose account is known: parts, items, stages, comparison."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from unit.profiler.xspace_writer import (
    MILLISECOND,
    PlaneWriter,
    gpu_steps,
    space,
    steps_of,
    task,
)

from tb_slowdown_plugin.profiler.compare import compare
from tb_slowdown_plugin.profiler.event_names import meaning
from tb_slowdown_plugin.profiler.intervals import lengths
from tb_slowdown_plugin.profiler.json_body import adds
from tb_slowdown_plugin.profiler.read import (
    allocators,
    read_trace,
)
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace


def trace_of(tmp_path: Path, data: bytes) -> CaptureTrace:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(data)
    return read_trace(path, nothing_recorded())


def test_a_moment_belongs_to_one_part(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        steps_of(
            4,
            [
                ("python", "IteratorGetNextOp::DoCompute", 0, 3),
                ("python", "EagerCopyToDevice", 2, 2),  # half of it while data is waited for
                ("tf_Compute/1", "a/MatMul:MatMul", 3, 3),  # begins while it is copied
                ("tf_Compute/2", "b/MatMul:MatMul", 5, 3),  # overlaps the one before
                ("tf_data_x/3", "c/Cast:Cast", 0, 10),  # in the background: costs nothing
                ("tf_Compute/1", "StatefulPartitionedCall:StatefulPartitionedCall", 0, 10),
            ],
        ),
    )
    mean = {part: float(np.mean(spent)) * 1e3 for part, spent in trace.parts.items()}
    assert mean == pytest.approx(
        {
            "device": 0, "communication": 0, "tracing": 0, "compilation": 0, "input": 3,
            "copies": 1, "compute": 4, "rest": 2,
        }
    )  # fmt: skip
    assert trace.steps.number.tolist() == [100, 101, 102, 103]


def test_an_item_that_runs_twice_at_a_time_is_covered_once(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        steps_of(2, [("x/1", "a:MatMul", 1, 4), ("x/2", "a:MatMul", 3, 4)]),
    )
    (item,) = trace.items
    assert (item.calls, item.busy_seconds) == (4, pytest.approx(0.016))
    assert trace.item_seconds() == pytest.approx([0.006])


def test_a_stage_does_not_count_those_that_it_asks(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        steps_of(
            2,
            [
                ("python", "Iterator::Root", 0, 9),
                ("python", "Iterator::Root::Map", 1, 8),
                ("python", "Iterator::Root::Map::Range", 2, 2),
                ("tf_data_x/1", "Iterator::Root::Map::Range", 0, 10),  # another thread's
            ],
        ),
    )
    own = dict(zip((item.name for item in trace.items), trace.item_seconds() * 1e3, strict=True))
    assert own == pytest.approx(
        {"Iterator::Root": 1, "Iterator::Root::Map": 6, "Iterator::Root::Map::Range": 12}
    )


def test_an_event_across_a_step_edge_is_cut_there_and_counted_once(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    markers = [("train", n * 10 * MILLISECOND, 10 * MILLISECOND, {"step_num": n}) for n in (0, 1)]
    host.line("python", markers)
    host.line("x/1", [("a:MatMul", 8 * MILLISECOND, 5 * MILLISECOND)])
    trace = trace_of(tmp_path, space(host.bytes(), task(0.02)))
    assert trace.parts["compute"] == pytest.approx([0.002, 0.003])
    assert trace.items[0].calls == 1


def test_a_device_is_told_apart_from_the_host(tmp_path: Path) -> None:
    host = PlaneWriter("/host:CPU")
    host.line("python", [("train", 0, 10 * MILLISECOND, {"step_num": 1})])
    host.line("x/1", [("a:MatMul", 0, 4 * MILLISECOND)])
    device = PlaneWriter("/device:GPU:0")
    device.line("Stream #1(Compute)", [("gemm", 2 * MILLISECOND, 4 * MILLISECOND)])
    device.line("Stream #2(MemcpyH2D)", [("MemcpyH2D", 5 * MILLISECOND, 3 * MILLISECOND)])
    device.line("TensorFlow Ops", [("again", 0, 10 * MILLISECOND)])
    trace = trace_of(tmp_path, space(host.bytes(), device.bytes(), task(0.01)))
    mean = {
        part: round(float(spent[0]) * 1e3, 6) for part, spent in trace.parts.items() if spent[0]
    }
    # The first millisecond of the copy lies behind the kernel, and costs nothing.
    assert mean == {"device": 4.0, "copies": 2.0, "compute": 2.0, "rest": 2.0}
    assert trace.devices == ("/device:GPU:0",)
    assert "2 ms of a step in copies." in adds(trace)
    assert any("4 ms of a step on the device, 4 ms on the host" in said for said in adds(trace))


def test_allocators_tell_what_was_most_and_least() -> None:
    told = [
        {"allocator_name": "GPU_0_bfc", "bytes_allocated": used, "bytes_available": 99 - used,
         "fragmentation": fragmentation}
        for used, fragmentation in ((10, 0.1), (40, float("nan")), (20, 0.3))
    ]  # fmt: skip
    (found,) = allocators([*told, {"bytes_allocated": 1000}])
    assert (found.name, found.samples) == ("GPU_0_bfc", 3)
    assert (found.in_use_bytes, found.available_bytes, found.fragmentation) == (40, 59, 0.3)
    assert np.isnan(found.reserved_bytes)


def slow_and_fast(tmp_path: Path, extra: list[tuple[str, str, int, int]], longer: int):
    always = [
        ("python", "IteratorGetNextOp::DoCompute", 0, 2),
        ("python", "Iterator::Root::Prefetch", 0, 2),
        ("tf_data_x/1", "Iterator::Root::Prefetch::Map", 0, 2),
        ("tf_Compute/1", "a/MatMul:MatMul", 3, 4),
    ]
    fast = trace_of(tmp_path, steps_of(5, always))
    return fast, trace_of(tmp_path, steps_of(5, [*always, *extra], step_ms=10 + longer))


def test_more_work_in_one_operation_leads(tmp_path: Path) -> None:
    fast, slow = slow_and_fast(tmp_path, [("tf_Compute/1", "b/Conv2D:Conv2D", 7, 12)], 10)
    found = compare(fast, slow)
    assert (found.rows[0].name, found.rows[0].difference) == (
        "b/Conv2D:Conv2D",
        pytest.approx(0.012),
    )
    assert found.headline == (
        "The slow step takes 10 ms longer (10 ms to 20 ms): 12 ms more in host operations, "
        "most in `b/Conv2D:Conv2D`, 2 ms less in Python, waiting, and gaps."
    )


def test_a_slow_stage_leads_before_those_that_wait_for_it(tmp_path: Path) -> None:
    extra = [
        ("python", "IteratorGetNextOp::DoCompute", 2, 12),
        ("python", "Iterator::Root::Prefetch", 2, 12),
        ("tf_data_x/1", "Iterator::Root::Prefetch::Map", 2, 11),
        ("tf_data_x/1", "f/MatMul:MatMul", 2, 10),
    ]
    found = compare(*slow_and_fast(tmp_path, extra, 12))
    assert found.rows[0].name == "Iterator::Root::Prefetch::Map"
    # What the stage computes, 11 ms, is no part of the step, which waits for it.
    assert found.headline == (
        "The slow step takes 12 ms longer (10 ms to 22 ms): 12 ms more in input wait, most "
        "in `Iterator::Map`, 4 ms less in host operations, 4 ms more in Python, waiting, "
        "and gaps."
    )


def test_background_work_that_no_step_waits_for_does_not_lead(tmp_path: Path) -> None:
    extra = [("tf_data_x/1", "f/MatMul:MatMul", 0, 19), ("tf_Compute/1", "b/Conv2D:Conv2D", 7, 4)]
    found = compare(*slow_and_fast(tmp_path, extra, 10))
    assert found.rows[0].name == "b/Conv2D:Conv2D"


def test_gaps_lead_where_nothing_is_named(tmp_path: Path) -> None:
    found = compare(*slow_and_fast(tmp_path, [], 10))
    assert found.rows[0].kind == "rest"
    assert found.headline.endswith("10 ms more in Python, waiting, and gaps.")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MEMCPYHtoD", "copy"),
        ("MemcpyD2H", "copy"),
        ("MemcpyP2P", "copy"),
        ("MEMCPYDToD", "kernel"),
        ("MemcpyD2D", "kernel"),
        ("Memset", "kernel"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256>(Params)", "kernel"),
    ],
)
def test_names_on_a_device(name: str, kind: str) -> None:
    found = meaning(name, input_thread=False, device=True)
    assert found is not None
    assert found.kind == kind


def test_a_trace_in_the_form_of_a_gpus(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, gpu_steps(6))
    mean = {part: float(np.mean(spent)) * 1e3 for part, spent in trace.parts.items()}
    # Of 4 ms of copying to the device one lies behind the kernel. That the host launched the
    # copies and the kernel is no copy; these calls take 0.05 ms each.
    assert mean == pytest.approx(
        {
            "device": 8, "communication": 0, "tracing": 0, "compilation": 0, "input": 2,
            "copies": 3 + 1, "compute": 0.15, "rest": 5.85,
        }
    )  # fmt: skip
    assert trace.devices == ("/device:GPU:0",)
    seconds = dict(zip((item.name for item in trace.items), trace.item_seconds(), strict=True))
    assert seconds["volta_sgemm_128x64_nn"] == pytest.approx(0.008)
    assert seconds["MEMCPYHtoD"] == pytest.approx(0.004)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("IteratorGetNext:IteratorGetNext", "input"),
        ("IteratorGetNextOp::DoCompute", "input"),
        ("OptionalGetValue:OptionalGetValue", "operation"),
        ("MemcpyD2H", "copy"),
        ("XlaCompilationCache::CompileImpl", "compilation"),
        ("void cudnn::engines_precompiled::nchwToNhwcKernel<float>(float const*)", None),
        ("tf.function-graph_building", "tracing"),
        ("MemoryDeallocation", "memory"),
        ("ExecutorState::Process", None),
        ("While:While", None),
    ],
)
def test_names(name: str, kind: str | None) -> None:
    found = meaning(name, input_thread=False, device=False)
    assert (None if found is None else found.kind) == kind


def test_lengths_of_long_times_in_many_groups() -> None:
    hour = 3_600 * 10**9
    groups = np.arange(4_000_000)
    begins = np.zeros(len(groups), np.int64)
    found = lengths(groups, begins, begins + hour, len(groups))
    np.testing.assert_allclose(found, hour, rtol=1e-6)

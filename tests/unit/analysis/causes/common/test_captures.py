"""What profiler captures beside a run add to its report, and what they may not claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.records.capture import PARTS, CapturedAllocator, CapturedItem, CapturedSteps
from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROWS = np.arange(SIZE)
SLOW = np.where(ROWS >= 400, 0.050, 0.0)
GPU = ("/device:GPU:0",)


def captured(first: int, *, devices=GPU, items=(), allocators=(), **parts: float) -> CapturedSteps:
    """Ten steps from `first` on, with these milliseconds in their parts."""
    of_parts = {part: parts.get(part, 0.0) / 1e3 for part in PARTS}
    return CapturedSteps(
        f"session_{first}",
        (first, first + 9),
        10,
        sum(of_parts.values()),
        of_parts,
        tuple(CapturedItem(kind, part, name, ms / 1e3) for kind, part, name, ms in items),
        tuple(allocators),
        devices,
    )


def bfc(in_use: float, free: float, fragmentation: float) -> CapturedAllocator:
    return CapturedAllocator(
        "GPU_0_bfc", 9, in_use, in_use, in_use + free, free, fragmentation, 1e6
    )


@pytest.fixture
def report(make_run, find, judge):
    """The report of a run that is 50 ms slower from step 400 on, with these captures."""

    def made(*captures, lost=SLOW, source="core", pattern="level_shift", **more):
        accounts = {source: lost} if source != "core" else None
        run = make_run(0.010 + lost, accounts=accounts, **more)
        finding = find(source, pattern, lost, confidence="medium" if source == "core" else "high")
        return judge(replace(run, captured=captures), finding).report

    return made


COPIES = ("copy", "copies", "MemcpyH2D")


def test_copies_that_make_up_a_rise_are_named(report):
    found = report(
        captured(100, device=8, copies=1, compute=1, items=[(*COPIES, 1)]),
        captured(500, device=9, copies=48, compute=3, items=[(*COPIES, 48)]),
    )
    (cause,) = found.causes
    assert (cause.cause, cause.confidence) == ("host_device_transfer", "medium")
    assert cause.lost_seconds == pytest.approx(10.0)  # the step clock's, not the captures'
    assert cause.steps == (400, 599)
    assert cause.evidence == (
        "Two profiler captures: in steps 500\u2013509 copies take 48 ms of a step, most in "
        "`MemcpyH2D`, in steps 100\u2013109 1 ms. That is 94.0% of the 50 ms by which a step is "
        "longer. Other slow steps were timed, but not captured.",
    )
    assert "prefetch_to_device" in cause.advice[0].code


@pytest.mark.parametrize(
    "captures",
    [
        [captured(500, device=2, copies=48)],  # nothing to compare with
        [captured(100, copies=48, device=2), captured(500, copies=48, device=52)],  # as before
        [captured(410, copies=2, device=8), captured(500, copies=48, device=12)],  # both slow
        [captured(100, device=8), captured(500, device=8, compute=30, copies=20)],  # not most
        [captured(100, compute=8, devices=()), captured(500, copies=58, devices=())],  # no device
    ],
)
def test_copies_are_not_named_without_a_rise_of_their_own(report, captures):
    found = report(*captures)
    assert found.causes == ()
    assert found.unexplained_seconds == pytest.approx(10.0)


def test_a_healthy_run_is_not_blamed_for_its_copies(make_run, judge):
    run = make_run(np.full(SIZE, 0.010))
    found = judge(replace(run, captured=(captured(100, device=6, copies=4),))).report
    assert (found.verdict, found.causes, found.suspects) == ("healthy", (), ())
    assert found.notes == (
        "In the profiler capture of steps 100\u2013109 a step takes 4 ms of 10 ms in copies "
        "between "
        "host and device while the device is idle. Only these steps were captured, so no time "
        "is counted as lost.",
    )
    few = judge(replace(run, captured=(captured(100, device=9, copies=1),))).report
    assert few.notes == ()


def test_what_grew_is_told_of_device_and_host(report):
    found = report(
        captured(100, device=8, compute=2, items=[("kernel", "device", "gemm", 7)]),
        captured(500, device=50, compute=3, rest=7, items=[("kernel", "device", "gemm", 48)]),
    )
    assert found.causes == ()
    assert found.notes == (
        "Two profiler captures, of steps 100\u2013109 and of steps 500\u2013509: a step of the "
        "second takes 50 ms longer, of them 42 ms on the device (most in `gemm`: 41 ms) and 7 ms "
        "in Python, waiting, and gaps.",
    )


def test_captures_in_the_warm_up_show_no_step_as_it_was(make_run, find, judge):
    captures = (captured(0, device=8), captured(500, device=58))
    run = replace(make_run(0.010 + SLOW), captured=captures)
    finding = find("core", "level_shift", SLOW, confidence="medium")
    assert judge(run, finding, warm_up_rows=20).report.notes == ()
    assert len(judge(run, finding).report.notes) == 1


STAGES = [
    ("stage", "input", "Iterator::Root::Prefetch", 0.2),
    ("stage", "input", "Iterator::Root::Prefetch::ParallelInterleaveV4", 44),
    ("operation", "input", "DecodeJpeg:DecodeJpeg", 90),
]


def test_the_slow_stage_is_named_where_tf_data_names_none(report):
    found = report(captured(500, input=48, compute=12, items=STAGES), source="input_wait")
    (cause,) = found.causes
    assert cause.cause == "input_pipeline"
    assert cause.evidence[-1] == (
        "The profiler capture of steps 500\u2013509 shows 48 ms of input wait per step, and most "
        "of the pipeline's time in the stage `ParallelInterleaveV4`: 44 ms per step."
    )
    assert [" ".join(each.text.split()[:3]) for each in cause.advice] == ["Cache what is"], (
        "files are read in parallel, and batches prefetched, already"
    )
    plain = report(source="input_wait").causes[0]
    assert "num_parallel_calls" in plain.advice[0].code
    # tf.data's own model was asked in every step: it comes first.
    told = Fact("input_stage", "Generator#3", {"seconds_per_element": 0.02, "share": 0.9})
    asked = report(
        captured(500, input=48, items=STAGES), source="input_wait", events=[(450, told)]
    ).causes[0]
    assert "from_generator" in asked.advice[0].code


def test_a_capture_of_steps_that_do_not_wait_says_nothing_of_the_stage(report):
    (cause,) = report(captured(100, input=1, items=STAGES), source="input_wait").causes
    assert not any("profiler" in sentence for sentence in cause.evidence)


def test_memory_in_pieces_is_a_suspect(report):
    found = report(captured(500, device=60, allocators=[bfc(12e9, 4e9, 0.7)]))
    (suspect,) = found.suspects
    assert (suspect.cause, suspect.seconds) == ("gpu_memory", pytest.approx(10.0))
    assert suspect.why == (
        "By the profiler capture of steps 500\u2013509 the allocator `GPU_0_bfc` is 75.0% full, "
        "and 70.0% of its free memory is outside the largest free block. What it costs is not "
        "measured."
    )
    for allocator in (bfc(2e9, 14e9, 0.7), bfc(12e9, 4e9, 0.2), bfc(12e9, 4e9, float("nan"))):
        assert report(captured(500, device=60, allocators=[allocator])).suspects == ()


def test_fragmentation_stands_beside_full_memory(make_run, find, judge):
    sampled = np.arange(0, SIZE, 20)
    run = make_run(
        0.010 + SLOW,
        signals={
            "allocator_in_use_bytes:GPU:0": np.where(sampled >= 400, 15.5, 8.0) * 2**30,
            "gpu_memory_total_bytes:GPU:0": np.full(30, 16.0 * 2**30),
        },
        signal_rows=sampled,
    )
    seen = captured(500, device=60, allocators=[bfc(15e9, 1e9, 0.6)])
    finding = find("core", "level_shift", SLOW, confidence="medium")
    (cause,) = judge(replace(run, captured=(seen,)), finding).report.causes
    assert cause.cause == "gpu_memory"
    assert any("60.0% of its free memory is outside" in said for said in cause.evidence)

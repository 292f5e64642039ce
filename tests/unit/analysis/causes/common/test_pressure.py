"""Heat, full memory, busy disks, shapes and copies: what slow steps come with."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.workload import more_work as larger_batches
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import CollectorState, Fact

SIZE = 600
ROWS = np.arange(SIZE)
SLOW = np.where(ROWS >= 400, 0.050, 0.0)
SAMPLED = np.arange(0, SIZE, 20)
LATE = SAMPLED >= 400


@pytest.fixture
def jump(make_run, find, judge):
    """The report of a run that is 50 ms slower from step 400 on, with these signals."""

    def report(signals=None, *, lost=SLOW, pattern="level_shift", **more):
        run = make_run(0.010 + lost, signals=signals, signal_rows=SAMPLED, **more)
        return judge(run, find("core", pattern, lost, confidence="medium")).report

    return report


def test_a_hot_device(jump):
    report = jump(
        {
            "gpu_thermal_slowdown:GPU:0": LATE.astype(float),
            "gpu_clock_hertz:GPU:0": np.where(LATE, 1.05e9, 1.98e9),
            "gpu_temperature_celsius:GPU:0": np.where(LATE, 91.0, 70.0),
        }
    )
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("thermal", "medium")
    assert cause.lost_seconds == pytest.approx(10.0)
    assert report.headline == "10.0 s of 16.0 s lost (62%) to thermal throttling of GPU:0."
    assert cause.summary == "GPU:0 is throttling because it is hot."
    assert cause.evidence == (
        "NVML reported throttling in 200 of 600 steps, starting at step 400.",
        "Its clock is 1,050 MHz there and 1,980 MHz otherwise (medians of the samples).",
        "Its temperature was 70 to 91 \u00b0C in the run.",
        "Those steps take 60 ms, all others 10 ms (medians).",
        "100.0% of the 10.0 s lost is in those steps.",
    )
    assert cause.advice[0].text.startswith("Cool the device")


def test_a_hot_amd_device_gets_commands_that_its_owner_has(jump):
    running = (CollectorState("amd_gpu", "running"),)
    report = jump({"gpu_thermal_slowdown:GPU:0": LATE.astype(float)}, collectors=running)
    (cause,) = report.causes
    assert cause.evidence[0].startswith("amdsmi reported throttling")
    told = " ".join(advice.text for advice in cause.advice)
    assert "amd-smi" in told
    assert "nvidia-smi" not in told


def test_a_power_cap_alone_is_never_a_cause(jump):
    """Nor with a lower clock: that is how a device keeps to the cap."""
    flags = {"gpu_power_slowdown:GPU:0": LATE.astype(float)}
    assert jump(flags).causes == ()
    assert jump({**flags, "gpu_clock_hertz:GPU:0": np.where(LATE, 1.2e9, 1.9e9)}).causes == ()


def test_a_slowdown_by_hardware_matters_where_the_clock_falls(jump):
    flags = {
        "gpu_hardware_slowdown:GPU:0": LATE.astype(float),
        "gpu_other_slowdown_bits:GPU:0": np.where(LATE, 2048.0, 512.0),
    }
    lower = jump({**flags, "gpu_clock_hertz:GPU:0": np.where(LATE, 0.6e9, 1.9e9)})
    (cause,) = lower.causes
    assert cause.cause == "thermal"
    assert cause.summary.startswith("GPU:0 is throttling because its hardware slows")
    assert "reasons that this version has no name for: bits 0xa00." in cause.evidence[1]
    assert cause.advice[0].text.startswith("Check the power supply")
    assert jump({**flags, "gpu_clock_hertz:GPU:0": np.full(30, 1.9e9)}).causes == ()


def test_heat_in_other_steps_or_in_all_is_not_blamed(jump):
    assert jump({"gpu_thermal_slowdown:GPU:0": (SAMPLED < 200).astype(float)}).causes == ()
    assert jump({"gpu_thermal_slowdown:GPU:0": np.ones(30)}).causes == ()


def test_device_memory_that_is_nearly_full(jump):
    report = jump(
        {
            "allocator_in_use_bytes:GPU:0": np.where(LATE, 15.5, 8.0) * 2**30,
            "gpu_memory_total_bytes:GPU:0": np.full(30, 16.0 * 2**30),
        }
    )
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("gpu_memory", "medium")
    assert cause.summary == ("GPU:0 memory is nearly full, and steps are slower while it is.")
    assert cause.evidence[:2] == (
        "TensorFlow's allocator had 8 GiB of 16 GiB in use at step 0 and up to 15.5 GiB (96.9%) "
        "at step 400.",
        "Memory was at least 90.0% full in 200 of 600 steps, starting at step 400.",
    )


def test_device_memory_that_grows_without_filling_is_not_blamed(jump):
    report = jump(
        {
            "allocator_in_use_bytes:GPU:0": np.where(LATE, 9.0, 8.0) * 2**30,
            "allocator_limit_bytes:GPU:0": np.full(30, 16.0 * 2**30),
        }
    )
    assert report.causes == ()
    unknown = jump({"allocator_in_use_bytes:GPU:0": np.where(LATE, 15.9, 8.0) * 2**30})
    assert unknown.causes == ()


def test_a_busy_disk(jump):
    waited = np.concatenate([np.zeros(20), np.arange(10) * 0.6])
    report = jump(
        {
            "io_pressure_seconds": waited,
            "output_bytes": np.linspace(2**20, 2**30, 30),
            "output_files": np.arange(30.0),
            "disk_free_bytes": np.full(30, 2.0**31),
        }
    )
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("disk", "medium")
    assert report.headline == "10.0 s of 16.0 s lost (62%) to I/O pressure."
    assert cause.evidence == (
        "Processes on this machine waited 5.4 s for disk (PSI, at least one of them), and at "
        "least 10% of the time in 180 of 600 steps, starting at step 400.",
        "Those steps take 60 ms, all others 10 ms (medians).",
        "90.0% of the 10.0 s lost is in those steps.",
        "The logdir and the directories of checkpoints hold 1 MiB at step 0 and 1 GiB in 29 files "
        "at step 580.",
        "Only 2 GiB of the disk is free.",
    )


def test_a_busy_disk_to_which_ever_more_is_written(jump):
    """Pressure tells how long something waited, growing bytes tell for what."""
    waited = np.concatenate([np.zeros(20), np.arange(10) * 0.6])
    written = np.cumsum(np.linspace(0, 40 * 2**20, 30) * 20)
    report = jump({"io_pressure_seconds": waited, "disk_written_bytes": written})
    (cause,) = report.causes
    assert report.headline == "10.0 s of 16.0 s lost (62%) to growing disk writes."
    assert cause.summary == (
        "Writes grow from 6.55 MiB per step (first third of the run) to 33.4 MiB (last third). "
        "Steps are slower while processes on this machine wait for disk."
    )
    assert cause.evidence[0].startswith("Processes on this machine waited 5.4 s for disk")
    assert cause.advice[0].text.startswith("Append what is new")


def test_saves_of_the_same_bytes_that_take_longer_on_a_busy_disk(make_run, find, judge):
    rows = np.arange(19, SIZE, 20)
    saving = np.zeros(SIZE)
    saving[rows] = np.where(rows >= 300, 0.5, 0.05)
    lost = np.where(ROWS >= 300, saving, 0.0)
    run = make_run(
        0.010 + saving,
        accounts={"checkpoint:tf.train.Checkpoint": saving},
        signals={"io_pressure_seconds": np.where(SAMPLED >= 300, 0.4 * (SAMPLED / 20 - 15), 0)},
        signal_rows=SAMPLED,
        events=[(int(r), Fact("checkpoint", "tf.train.Checkpoint", {"bytes": 1e8})) for r in rows],
    )
    finding = find("checkpoint:tf.train.Checkpoint", "drift", lost)
    (cause,) = judge(run, finding).report.causes
    assert cause.cause == "disk"
    assert "Time per save grew from 50 ms to 500 ms for the same number of bytes." in cause.evidence

    without = make_run(0.010 + saving, accounts={"checkpoint:tf.train.Checkpoint": saving})
    (cause,) = judge(without, finding).report.causes
    assert cause.cause == "checkpointing"


def test_ever_more_is_written(jump):
    lost = np.linspace(0.0, 0.040, SIZE)
    written = np.cumsum(20.0 * 100_000 * SAMPLED)
    report = jump({"disk_written_bytes": written}, lost=lost, pattern="drift")
    (cause,) = report.causes
    assert (cause.cause, cause.pattern) == ("disk", "drift")
    assert cause.summary == (
        "Writes grow from 9.06 MiB per step (first third of the run) to 46.3 MiB (last third), "
        "and step time grows with them."
    )
    assert (
        cause.evidence[0]
        == "Step time grew from 12.1 ms (around step 1) to 48.2 ms (around step 599)."
    )
    assert cause.advice[0].text.startswith("Append what is new")


def test_few_bytes_do_not_explain_many_seconds(jump):
    lost = np.linspace(0.0, 0.040, SIZE)
    written = np.cumsum(20.0 * 200 * SAMPLED)
    assert jump({"disk_written_bytes": written}, lost=lost, pattern="drift").causes == ()
    steady = 1e6 * SAMPLED
    assert jump({"disk_written_bytes": steady}, lost=lost, pattern="drift").causes == ()


def test_stalls_in_no_pattern_are_claimed_where_memory_is_full(make_run):
    # What the engine leaves unexplained is looked at, too.
    random = np.random.default_rng(3)
    period = np.full(3_000, 0.010)
    late = 2_000 + random.choice(1_000, 150, replace=False)
    period[late] += random.uniform(0.05, 0.4, 150)
    rows = np.arange(0, 3_000, 50)
    signals = {
        "allocator_in_use_bytes:CPU:0": np.where(rows >= 2_000, 199.0, 10.0) * 2**20,
        "allocator_limit_bytes:CPU:0": np.full(60, 200.0 * 2**20),
    }
    account = account_for(make_run(period, signals=signals, signal_rows=rows))
    assert [cause.cause for cause in account.report.causes] == ["gpu_memory"]
    assert account.report.causes[0].lost_seconds > 0.8 * (period - 0.010).sum()
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(total, period, atol=1e-9)

    without = account_for(make_run(period)).report
    assert without.causes == ()
    assert without.unexplained_seconds == pytest.approx(account.report.lost_seconds)


def shapes_from(row: int, each: float = 1.0) -> np.ndarray:
    return 3 + np.maximum(0, SAMPLED - row) * each


def test_a_stall_is_judged_by_the_samples_within_it(make_run, find, judge):
    """A step that waits for memory ends when it is free again: the last sample says so."""
    period, stall = np.full(600, 0.01), np.zeros(600)
    period[300], stall[300] = 10.01, 10.0
    rows = np.concatenate([np.arange(300), np.full(20, 300), np.arange(301, 600)])
    used = np.full(len(rows), 2.0**30)
    used[300:319] = 15.9 * 2**30
    run = make_run(
        period,
        signals={
            "allocator_in_use_bytes:GPU:0": used,
            "allocator_limit_bytes:GPU:0": np.full(len(rows), 16.0 * 2**30),
        },
        signal_rows=rows,
    )
    (cause,) = judge(run, find("core", "one_off", stall)).report.causes
    assert (cause.cause, cause.steps) == ("gpu_memory", (300, 300))
    assert cause.evidence[1] == (
        "Memory was at least 90.0% full in 1 of 600 steps, starting at step 300."
    )


def test_ever_new_shapes(jump):
    facts = [(0, Fact("batch_shape", "(8, 24, 24, 3)", {"distinct": 1}))]
    facts += [
        (400 + n, Fact("batch_shape", f"(8, 1), (8, {14 + n}, 20, 3)", {"distinct": 4 + n}))
        for n in range(10)
    ]
    report = jump({"batch_shapes": shapes_from(400)}, events=facts)
    (cause,) = report.causes
    assert (cause.cause, cause.confidence, cause.pattern) == (
        "shape_churn",
        "medium",
        "level_shift",
    )
    assert report.headline == "10.0 s of 16.0 s lost (62%) to ever-changing batch shapes."
    assert cause.summary == (
        "90 of every 100 steps use a batch shape never seen before, so TensorFlow can't reuse "
        "buffers, kernels, or plans."
    )
    assert cause.evidence == (
        "Batches had 3 distinct shapes by step 400 and 183 by step 599.",
        "New among them: (8, 14, 20, 3), (8, 15, 20, 3), (8, 16, 20, 3) and 7 more.",
        "The median step took 10 ms before step 400 and 60 ms since then.",
    )


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ("(8, {})", ["Pad to"]),
        ("({}, 10)", ["Drop the"]),
        ("(8, {}, 20, 3)", ["Bring images"]),
        ("({0}, {0})", ["Pad to", "Drop the"]),
    ],
)
def test_the_fix_is_that_of_the_dimension_that_varies(jump, shape, first):
    facts = [(400 + n, Fact("batch_shape", shape.format(30 + n))) for n in range(10)]
    (cause,) = jump({"batch_shapes": shapes_from(400)}, events=facts).causes
    assert [" ".join(each.text.split()[:2]) for each in cause.advice] == first


def test_shapes_that_are_larger_by_as_much_are_more_work(jump):
    facts = [(0, Fact("batch_shape", "(8, 10)")), (400, Fact("batch_shape", "(8, 60)"))]
    assert jump({"batch_shapes": shapes_from(400)}, events=facts).causes == ()


def test_shapes_that_always_came_or_come_seldom_are_not_blamed(jump):
    assert jump({"batch_shapes": shapes_from(0)}).causes == ()
    assert jump({"batch_shapes": shapes_from(400, each=0.05)}).causes == ()


def test_the_elements_of_shapes():
    assert doctest.testmod(larger_batches) == (0, 1)
    assert larger_batches.elements("()") == 1.0


def test_copies_are_named_where_a_phase_holds_them(make_run, find, judge):
    copying = 0.002 + SLOW
    run = make_run(0.008 + copying, accounts={"phase:to_device": copying})
    finding = find("core", "level_shift", SLOW, confidence="medium")
    shares = {"share:phase:to_device": 0.98}
    finding = type(finding)(*(getattr(finding, name) for name in finding.__slots__[:6]), shares)
    (cause,) = judge(run, finding).report.causes
    assert cause.cause == "host_device_transfer"
    assert cause.summary == (
        "The phase `to_device`, which copies between host and device, got slower."
    )
    assert cause.evidence == (
        "It takes 2 ms per step before step 400 and 52 ms since then (medians); 98.0% of the "
        "growth of the step is in it.",
    )

    other = make_run(0.008 + copying, accounts={"phase:attention": copying})
    shares = {"share:phase:attention": 0.98}
    finding = type(finding)(*(getattr(finding, name) for name in finding.__slots__[:6]), shares)
    assert judge(other, finding).report.causes == ()

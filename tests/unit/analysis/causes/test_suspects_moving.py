"""Signals that move with seconds that nothing accounts for are suspects; decoys are not."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 600
ROWS = np.arange(SIZE)
SAMPLED = np.arange(4, SIZE, 10)
SHIFT = np.where(ROWS >= 300, 0.005, 0.0)
DRIFT = np.linspace(0.0, 0.030, SIZE)
UNPROVEN = " Nothing measured says that it takes the time."


@pytest.fixture
def suspects(make_run, find, judge):
    """Of a shift or drift that nothing accounts for, beside signals."""

    def told(lost, signals, pattern="level_shift"):
        noise = np.random.default_rng(1).normal(0, 1e-5, SIZE)
        run = make_run(0.010 + lost + noise, signals=signals, signal_rows=SAMPLED + 1)
        report = judge(run, find("core", pattern, lost, confidence="medium")).report
        assert report.causes == ()
        assert report.unexplained_seconds == pytest.approx(lost.sum())
        return [(each.cause, each.seconds, each.why) for each in report.suspects]

    return told


@pytest.mark.parametrize(
    ("signal", "before", "after", "cause", "said"),
    [
        (
            "rss_bytes",
            2.0**30,
            2.0**31,
            "host_memory",
            "\u201cHost memory of the process (RSS)\u201d jumps with the step time at step 300, "
            "from 1 GiB to 2 GiB",
        ),
        (
            "eager_functions",
            40,
            4000,
            "graph_growth",
            "\u201cFunctions in the eager context\u201d jumps with the step time at step 300, "
            "from 40 to 4,000",
        ),
        (
            "gpu_temperature_celsius:GPU:1",
            55,
            87,
            "thermal",
            "\u201cDevice temperature\u201d of GPU:1 jumps with the step time at step 300, "
            "from 55 \u00b0C to 87 \u00b0C",
        ),
    ],
)
def test_a_signal_that_jumps_there_is_a_suspect(suspects, signal, before, after, cause, said):
    values = np.where(SAMPLED >= 300, after, before)
    assert suspects(SHIFT, {signal: values}) == [
        (cause, pytest.approx(1.5), f"{said}, and nowhere else as far.{UNPROVEN}")
    ]


def test_a_count_is_told_by_the_second(suspects):
    """From one fault in a step of 10 ms to six in one of 15 ms."""
    faults = np.cumsum(np.where(ROWS >= 300, 6.0, 1.0))[SAMPLED]
    ((cause, _, why),) = suspects(SHIFT, {"major_faults": faults})
    assert cause == "host_memory"
    assert "from 100 per second to 400 per second" in why


def test_what_goes_on_at_an_even_pace_is_no_suspect(suspects):
    """Forty switches a second, in steps that take half as long again."""
    ended = np.cumsum(0.010 + SHIFT)
    assert suspects(SHIFT, {"involuntary_switches": 40 * ended[SAMPLED]}) == []


@pytest.mark.parametrize(
    ("device", "cause"), [("GPU:0", "gpu_memory"), ("CPU:0", "tensor_retention")]
)
def test_what_grows_all_along_is_a_suspect_of_growth(suspects, device, cause):
    signals = {f"allocator_peak_bytes:{device}": 2.0**20 * (10 + SAMPLED / 10)}
    assert suspects(DRIFT, signals, "drift") == [
        (
            cause,
            pytest.approx(9.0),
            f"\u201cAllocator peak\u201d of {device} grows together with the step time, from "
            f"10.4 MiB to 69.4 MiB; much that grows does.{UNPROVEN}",
        )
    ]


@pytest.mark.parametrize("seed", range(5))
def test_decoys_are_no_suspects_of_a_jump(suspects, seed):
    """Growing, wandering, noisy, still, and jumping at another time."""
    random = np.random.default_rng(seed)
    count = len(SAMPLED)
    decoys = {
        "rss_bytes": np.linspace(1e9, 3e9, count) + random.normal(0, 1e6, count),
        "graph_operations": 1000 + np.cumsum(random.normal(0, 30, count)),
        "optimizer_bytes": 100 + random.normal(0, 30, count),
        "eager_functions": np.full(count, 40.0),
        "allocator_in_use_bytes:GPU:0": np.where(SAMPLED >= 420, 2e9, 1e9),
    }
    assert suspects(SHIFT, decoys) == []


def test_signals_that_tell_of_no_cause_are_left_out(suspects):
    moving = {"output_bytes": SAMPLED * 1e6, "monitor_cpu_seconds": SAMPLED**2.0, "mine": SAMPLED}
    assert suspects(DRIFT, moving, "drift") == []


def test_too_few_samples_are_no_suspects(make_run, find, judge):
    rows = np.arange(20, SIZE, 40)  # fifteen
    run = make_run(0.010 + DRIFT, signals={"rss_bytes": 1e9 + 1e7 * rows}, signal_rows=rows)
    assert judge(run, find("core", "drift", DRIFT)).report.suspects == ()

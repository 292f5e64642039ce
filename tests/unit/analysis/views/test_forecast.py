"""When memory runs out, said only where it really grows towards a limit."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.forecast import forecast
from tb_slowdown_plugin.records.run import Session

GIB = 1 << 30
MIB = 1 << 20
STEPS = 600
ROWS = np.arange(0, STEPS, 5)
"""A sample each 5 steps of 1 s."""


def told(make_run, sessions=None, **signals):
    values = {
        name.replace("__", ":"): np.broadcast_to(v, ROWS.shape) for name, v in signals.items()
    }
    run = make_run(np.ones(STEPS), signals=values, signal_rows=ROWS, sessions=sessions)
    return list(forecast(run))


def test_a_process_that_grows_by_60_mib_a_minute_reaches_its_limit(make_run):
    resident = 1 * GIB + MIB * ROWS
    (sentence,) = told(
        make_run, rss_bytes=resident, container_memory_limit_bytes=2 * GIB,
        memory_available_bytes=64 * GIB,
    )  # fmt: skip
    # 1 GiB less 595 MiB are left, at 1 MiB a second.
    assert sentence == (
        "The process takes 60 MiB more each minute: at this growth the limit of its container, "
        "2 GiB, is reached 7 min 9 s after the last sample."
    )


def test_without_a_container_the_machines_memory_is_the_limit(make_run):
    (sentence,) = told(
        make_run, rss_bytes=MIB * ROWS, memory_available_bytes=1200.0 * MIB - MIB * ROWS
    )
    assert sentence.endswith(
        "the end of the machine's memory is reached 10 min 5 s after the last sample."
    )


@pytest.mark.parametrize("limit", ["allocator_limit_bytes", "gpu_memory_total_bytes"])
def test_an_allocator_that_grows_towards_what_it_may_use(make_run, limit):
    (sentence,) = told(
        make_run, allocator_in_use_bytes__GPU__0=4 * MIB * ROWS, **{f"{limit}__GPU__0": 4 * GIB}
    )
    assert sentence.startswith("TensorFlow's allocator of GPU:0 takes 240 MiB more each minute")
    assert "the limit of 4 GiB is reached 7 min 9 s" in sentence


@pytest.mark.parametrize(
    "resident",
    [
        np.full(len(ROWS), 1.0 * GIB),
        1.0 * GIB - 0.5 * MIB * ROWS,
        1.0 * GIB + MIB * np.minimum(ROWS, 200),  # warm-up, then level
        1.0 * GIB + 50 * MIB * np.random.default_rng(1).normal(size=len(ROWS)),
        1.0 * GIB + 40 * MIB * np.sin(ROWS / 20.0),  # memory that comes and goes
        1.0 * GIB + 0.02 * MIB * ROWS,  # a day and more
    ],
    ids=["level", "falls", "warm-up", "noise", "waves", "slow"],
)
def test_what_does_not_run_out_soon_is_not_told(make_run, resident):
    assert told(make_run, rss_bytes=resident, container_memory_limit_bytes=2.0 * GIB) == []


def test_without_a_limit_or_with_few_samples_nothing_is_said(make_run):
    assert told(make_run, rss_bytes=MIB * ROWS) == []
    run = make_run(
        np.ones(10), signals={"rss_bytes": np.arange(10.0), "memory_available_bytes": np.ones(10)},
        signal_rows=np.arange(10),
    )  # fmt: skip
    assert list(forecast(run)) == []


def test_a_resumed_run_is_judged_by_its_last_process(make_run):
    resident = np.where(ROWS < 300, 1.5 * GIB, 0.5 * GIB + 0.0 * ROWS)
    sessions = [Session("a", 0, 0.0, 3, 0), Session("b", 300, 300.0, 3, 0)]
    assert told(
        make_run, sessions, rss_bytes=resident, container_memory_limit_bytes=2.0 * GIB
    ) == []  # fmt: skip
    growing = np.where(ROWS < 300, 0.0, MIB * ROWS)
    assert len(told(make_run, sessions, rss_bytes=growing, memory_available_bytes=GIB)) == 1

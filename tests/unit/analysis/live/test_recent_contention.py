"""Whether other processes took what the newest steps take too long."""

import numpy as np

from tb_slowdown_plugin.analysis.live.recent_contention import others_took

SIZE = 2000
LATE = np.arange(SIZE) >= 1800
PERIOD = np.where(LATE, 0.020, 0.010)
SAMPLED = np.arange(0, SIZE, 5)


def run_of(make_run, *, waits, cpu=0.009):
    waited = np.cumsum(np.where(LATE, waits, 0.0))[SAMPLED]
    signals = {"thread_run_delay_seconds": waited, "run_delay_seconds": waited}
    return make_run(
        PERIOD, signals=signals, signal_rows=SAMPLED, process_cpu=np.full(SIZE, cpu),
        thread_cpu=np.full(SIZE, cpu), limits={"cpu_count": 2.0},
    )  # fmt: skip


def test_a_thread_that_waits_for_a_core_is_kept_off_by_others(make_run):
    assert others_took(run_of(make_run, waits=0.010), 1800, 2.0)


def test_without_waiting_nobody_else_took_it(make_run):
    assert not others_took(run_of(make_run, waits=0.0), 1800, 2.0)


def test_a_program_that_fills_all_cores_slows_itself(make_run):
    busy = run_of(make_run, waits=0.010, cpu=0.040)
    assert not others_took(busy, 1800, 2.0)
    assert not others_took(run_of(make_run, waits=0.010), 0, 2.0)

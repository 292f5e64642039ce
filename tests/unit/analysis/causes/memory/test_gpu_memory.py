"""Steps are slow where the memory of a device is nearly full, and only there."""

import numpy as np
import pytest

SIZE = 600
ROW = np.arange(SIZE)
SLOW = np.where(ROW >= 400, 0.010, 0.0)
SAMPLED = np.arange(0, SIZE, 10)
LIMIT = float(1 << 30)


def in_use(late):
    return {
        "allocator_in_use_bytes:GPU:0": np.where(SAMPLED >= 400, late, 0.3) * LIMIT,
        "allocator_limit_bytes:GPU:0": np.full(len(SAMPLED), LIMIT),
    }


def test_slow_steps_in_nearly_full_memory_are_its_cost(make_run, find, judge):
    run = make_run(0.01 + SLOW, signals=in_use(0.97), signal_rows=SAMPLED)
    (cause,) = judge(run, find("core", "level_shift", SLOW)).report.causes
    assert (cause.cause, cause.confidence) == ("gpu_memory", "medium")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert cause.evidence[0] == (
        "TensorFlow's allocator had 307 MiB of 1 GiB in use at step 0 and up to 993 MiB (97.0%) "
        "at step 400."
    )


def test_half_full_memory_is_none(make_run, find, judge):
    run = make_run(0.01 + SLOW, signals=in_use(0.5), signal_rows=SAMPLED)
    report = judge(run, find("core", "level_shift", SLOW)).report
    assert "gpu_memory" not in [cause.cause for cause in report.causes]


def test_memory_that_is_full_all_along_tells_nothing(make_run, find, judge):
    full = {name: np.full(len(SAMPLED), 0.97 * LIMIT) for name in in_use(0.97)}
    full["allocator_limit_bytes:GPU:0"][:] = LIMIT
    run = make_run(0.01 + SLOW, signals=full, signal_rows=SAMPLED)
    early = np.where(ROW < 550, 0.001, 0.0)
    report = judge(run, find("core", "flat", early)).report
    assert "gpu_memory" not in [cause.cause for cause in report.causes]

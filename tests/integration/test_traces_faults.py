"""A profiler that fails while it captures by itself: training goes on, and it is said once."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from integration.written import failures, numbers

pytestmark = pytest.mark.tensorflow

PROGRAM = """
import time
from tb_slowdown_plugin.collectors.timing import slowdown_detector
from tb_slowdown_plugin.writer.on_slowdown import profile_on_slowdown as capture
capture.EXPECTED_SECONDS, capture.MOST_FRACTION = 0.0, 1.0
slowdown_detector._STEADY_WITHIN = 1e9  # the machine may be as busy as it likes

called = []
def broken(*_args, **_kwargs):
    called.append(1)
    raise RuntimeError("no space left on the device")

tf.profiler.experimental.{breaks} = broken
with tbslow.start(logdir, profile_on_slowdown=True) as monitor:
    for _ in range(8):
        train(32)
        monitor.flush()
print("trained", len(called))
"""


@pytest.mark.parametrize("breaks", ["start", "stop"])
def test_training_goes_on_without_captures(run, tmp_path, breaks: str) -> None:
    finished = run(PROGRAM.replace("{breaks}", breaks))
    assert finished.stdout == "trained 1\n", finished.stderr
    assert numbers(tmp_path) == [*range(32)] * 8
    (failure,) = failures(tmp_path)
    assert failure.part == "profile_on_slowdown"
    assert failure.reason == "RuntimeError in broken"
    assert "RuntimeError: no space left on the device" in finished.stderr

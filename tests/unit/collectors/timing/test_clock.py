"""The clocks of the process: in their units, and each of its own kind."""

import threading
import time

from tb_slowdown_plugin.collectors.timing.clock import Clock


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_each_clock_counts_what_it_is_of():
    clock = Clock()
    passed, process, thread = clock.monotonic_ns(), clock.process_cpu_ns(), clock.thread_cpu_ns()
    other = threading.Thread(target=compute, args=(0.05,))
    other.start()
    other.join()
    compute(0.02)
    passed, process, thread = (
        after - before
        for after, before in (
            (clock.monotonic_ns(), passed),
            (clock.process_cpu_ns(), process),
            (clock.thread_cpu_ns(), thread),
        )
    )
    assert passed >= 50e6
    assert process >= 65e6
    assert 20e6 <= thread <= process - 45e6
    assert abs(clock.unix_seconds() - time.time()) < 1.0


def test_a_test_replaces_one_of_them():
    clock = Clock(monotonic_ns=lambda: 5_000)
    assert clock.monotonic_ns() == 5_000
    assert clock.unix_seconds() > 1e9

"""Samples of a thread's stack are where it spends its time, not where it gives the lock away."""

import os
import random
import sys
import threading
import time
from collections import Counter

import pytest

from tb_slowdown_plugin.collectors.python.any_moment import AnyMoment

SAMPLES = 100


def compute(turns=30_000):
    """A millisecond or two that hold the interpreter's lock."""
    total = 0
    for number in range(turns):
        total += number
    return total


def rest():
    """As long, without it: what a call of TensorFlow does."""
    time.sleep(0.001)


def train(is_over, spent):
    while not is_over():
        for part in (compute, rest):
            began = time.thread_time() if part is compute else time.perf_counter()
            part()
            now = time.thread_time() if part is compute else time.perf_counter()
            spent[part.__name__] += now - began


@pytest.fixture
def usual():
    interval = sys.getswitchinterval()
    yield interval
    sys.setswitchinterval(interval)


def sample(wait):
    """How often another thread finds this one in each function, and how long it was there."""
    seen, spent, thread = Counter(), Counter(), threading.get_ident()

    def look():
        for _ in range(SAMPLES):
            due = time.perf_counter() + 0.003
            time.sleep(0.003)
            wait(time.perf_counter() - due)
            frame = sys._current_frames()[thread]
            while frame is not None and frame.f_code.co_name not in ("compute", "rest", "train"):
                frame = frame.f_back
            seen[frame.f_code.co_name if frame is not None else "before"] += 1

    looking = threading.Thread(target=look)
    looking.start()
    train(lambda: not looking.is_alive(), spent)
    return seen, spent


def test_python_between_two_calls_that_give_the_lock_away_is_seen(usual):
    seen, spent = sample(AnyMoment().wait)
    share = spent["compute"] / spent.total()
    assert seen["compute"] > share * SAMPLES / 5  # none or two without it
    assert sys.getswitchinterval() == usual


def test_it_returns_so_long_after_it_was_due(usual):
    slept = []
    moment = AnyMoment(sleep=slept.append, draw=lambda: 0.5)
    for late_seconds in (0.0, 0.002, 0.0099, 0.01, 0.3, -0.1):
        moment.wait(late_seconds)
    assert slept == pytest.approx([0.015, 0.013, 0.0051, 0.005, 0.005, 0.005])
    slept.clear()
    for drawn in (0.0, 1.0):
        AnyMoment(sleep=slept.append, draw=lambda drawn=drawn: drawn).wait(0.003)
    assert slept == pytest.approx([0.007, 0.017])


def test_it_sleeps_at_random_and_draws_from_no_generator_of_the_program(usual):
    random.seed(7)
    state = random.getstate()
    slept = []
    moment = AnyMoment(sleep=slept.append)
    for _ in range(50):
        moment.wait()
    assert 0 <= min(slept) < max(slept) <= 0.01
    assert len(set(slept)) > 40
    assert random.getstate() == state


def test_an_interval_that_the_program_sets_meanwhile_stays(usual):
    AnyMoment(sleep=lambda _: sys.setswitchinterval(0.02)).wait()
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_an_error_of_the_sleep_leaves_the_interval_as_it_was(usual):
    def fail(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AnyMoment(sleep=fail).wait()
    assert sys.getswitchinterval() == usual


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # Python 3.12
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_is_forked_meanwhile_has_the_interval_of_the_program(usual):
    ends = []

    def fork(_):
        child = os.fork()
        if child == 0:
            os._exit(0 if sys.getswitchinterval() == usual else 1)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    AnyMoment(sleep=fork).wait()
    assert ends == [0]
    assert sys.getswitchinterval() == usual


def test_two_that_overlap_leave_the_interval_as_it_was(usual):
    inner = AnyMoment(sleep=lambda _: None)
    AnyMoment(sleep=lambda _: inner.wait()).wait()
    assert sys.getswitchinterval() == usual

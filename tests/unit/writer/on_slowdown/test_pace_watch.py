"""Steps that become slower for good are told once; other work and moments are not."""

from __future__ import annotations

from dataclasses import replace

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.writer.on_slowdown.pace_watch import SLOWER_SECONDS, PaceWatch

BLOCK = 32


def table(seconds, *, first=0, ran=None, calls=None, seed=0):
    seconds = np.asarray(seconds, float)
    size = len(seconds)
    made = event_files.make_steps(size)
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.02, size))
    zeros = np.zeros(size, np.int64)
    return replace(
        made,
        number=np.arange(first, first + size),
        period_seconds=seconds * noise,
        ran=zeros if ran is None else np.asarray(ran),
        calls=zeros if calls is None else np.asarray(calls),
    )


def feed(seconds, **columns):
    """Chunks of 50 steps, as a session writes them."""
    watch, found, size = PaceWatch(), [], len(seconds)
    for first in range(0, size, 50):
        part = {name: values[first : first + 50] for name, values in columns.items()}
        found += watch.add(table(seconds[first : first + 50], first=first, seed=first, **part))
    return found, watch


def test_steps_that_become_slower_for_good_are_told_once():
    found, _ = feed([0.1] * 320 + [0.15] * 640)
    (slower,) = found
    assert abs(slower.step - 320) <= BLOCK
    assert slower.before == pytest.approx(0.1, rel=0.05)
    assert slower.seconds == pytest.approx(0.15, rel=0.05)


def test_a_still_higher_level_is_told_again():
    found, _ = feed([0.1] * 320 + [0.15] * 640 + [0.3] * 640)
    assert [round(slower.seconds, 2) for slower in found] == [0.15, 0.3]
    assert found[1].before == pytest.approx(0.15, rel=0.05)


def test_a_healthy_run_a_moment_and_single_slow_steps_are_not_told():
    moment = int(0.5 * SLOWER_SECONDS / 0.015)
    spiky = np.full(4000, 0.01)
    spiky[::20] = 1.0
    for seconds in ([0.01] * 4000, [0.01] * 2000 + [0.015] * moment + [0.01] * 2000, spiky):
        assert feed(seconds)[0] == []


def test_steps_that_do_other_work_are_no_slowdown():
    seconds = [0.1] * 320 + [0.3] * 640
    assert feed(seconds, ran=[1] * 320 + [3] * 640)[0] == []
    assert feed(seconds, calls=[1] * 320 + [4] * 640)[0] == []
    # More and more steps of the longer sort: learning that starts.
    long = np.random.default_rng(1).random(2000) < np.linspace(0.0, 1.0, 2000)
    assert feed(np.where(long, 0.3, 0.1), ran=np.where(long, 3, 1))[0] == []


def test_a_function_that_gets_slower_among_others_is_told():
    steps = np.arange(2000)
    is_eval = steps % 10 == 9
    seconds = np.where(is_eval, 0.5, np.where(steps < 700, 0.1, 0.14))
    found, _ = feed(seconds, ran=np.where(is_eval, 3, 1))
    assert [slower.before for slower in found] == [pytest.approx(0.1, rel=0.05)]


def test_no_more_than_sixteen_sorts_of_work_are_kept():
    found, watch = feed([0.1] * 2000, calls=np.arange(2000))
    assert found == []
    assert watch.best() is None
    assert watch.steps == 2000
    assert len(watch._paces) == 16


def test_seconds_above_the_best_pace():
    _, watch = feed([0.1] * 320 + [0.15] * 320)
    above, level = watch.best()
    assert level == pytest.approx(0.1, rel=0.03)
    assert above == pytest.approx(16.0, rel=0.1)
    assert watch.seconds == pytest.approx(80.0, rel=0.01)

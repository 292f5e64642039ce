"""Which clocks leave the graphs under op determinism, and what is left of the hook."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.graph_timing import op_determinism

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
config = pytest.importorskip("tensorflow.python.framework.config")


@pytest.fixture
def said(monkeypatch):
    """What is reported, while nothing is switched on for real."""
    monkeypatch.setattr(op_determinism, "_watched", {})
    op_determinism._hooks.remove()  # what other tests left; else `watch` puts back
    enabled, told = [], []
    real = config._pywrap_determinism
    pretended = SimpleNamespace(enable=enabled.append, is_enabled=real.is_enabled)
    monkeypatch.setattr(config, "_pywrap_determinism", pretended)
    in_use.clear()
    in_use.append("input_wait")
    for part in ("input_wait", "communication"):
        op_determinism.watch(
            part, lambda part=part: part in in_use, lambda *failed: told.append(failed)
        )
    yield enabled, told
    op_determinism._hooks.remove()


in_use: list[str] = []
"""Collectors whose clocks are in graphs."""


@tf.function
def ours(x):
    with tf.device("CPU:0"):
        began = tf.timestamp()
    return x + tf.cast(began, tf.float32)


@tf.function
def theirs(x):
    return x + tf.cast(tf.timestamp(), tf.float32)


@tf.function
def caller(x):
    return ours(x) + theirs(x)


def test_ours_stand_still_and_the_program_s_own_go_on(said):
    enabled, told = said
    one = tf.constant(1.0)
    assert float(ours(one)) > 1e9
    assert float(caller(one)) > 3e9
    tf.config.experimental.enable_op_determinism()
    assert enabled == [True]
    assert float(ours(one)) == 1.0
    assert float(theirs(one)) > 1e9
    assert 1e9 < float(caller(one)) < 2e9, "it has ours inlined"
    assert [function.experimental_get_tracing_count() for function in (ours, caller)] == [1, 1]
    ((part, reason),) = told
    assert part == "input_wait"
    assert reason.startswith("op determinism was switched on")


def test_a_tensorflow_that_refuses_is_told_of_and_the_program_goes_on(said, monkeypatch):
    def refuse():
        raise AttributeError("no such function")

    monkeypatch.setattr(op_determinism, "take_clocks_out", refuse)
    tf.config.experimental.enable_op_determinism()
    enabled, told = said
    assert enabled == [True]
    ((_, reason),) = told
    assert reason.startswith("AttributeError: functions that were traced with a clock")


def test_nobody_is_told_after_the_stop_and_the_hook_goes_with_the_last_clock(said):
    enabled, told = said
    op_determinism.unwatch("communication")
    op_determinism.unwatch("input_wait")
    assert len(hooked_by("op_determinism")) == 1
    again = tf.function(ours.python_function)
    assert float(again(tf.constant(1.0))) > 1e9
    tf.config.experimental.enable_op_determinism()
    assert float(again(tf.constant(1.0))) == 1.0
    assert told == []
    in_use.clear()
    op_determinism.unwatch("input_wait")
    assert hooked_by("op_determinism") == []
    assert enabled == [True]


def test_one_collector_that_stops_leaves_the_other_its_guard(said):
    _, told = said
    op_determinism.unwatch("communication")
    assert len(hooked_by("op_determinism")) == 1
    kept = tf.function(ours.python_function)
    kept(tf.constant(1.0))
    tf.config.experimental.enable_op_determinism()
    assert [part for part, _ in told] == ["input_wait"]

"""What was left on for debugging is not switched on, or ended after the first step."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

from tb_slowdown_plugin.writer.launch.interventions.debugging import DebuggingOff  # noqa: E402

pytestmark = pytest.mark.tensorflow


def test_calls_that_switch_it_on_do_nothing(install) -> None:
    intervention = install(DebuggingOff)
    tf.debugging.enable_check_numerics()
    tf.config.run_functions_eagerly(True)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    assert intervention.applied == 3
    assert not tf.config.functions_run_eagerly()
    assert not model.run_eagerly
    assert float(tf.math.log(-tf.ones(()))) != 0.0  # NaN, and no error


def test_what_python_does_ends_after_the_first_step(install) -> None:
    intervention = install(DebuggingOff)
    before = sys.gettrace()
    tracemalloc.start()
    sys.setprofile(lambda *_: None)
    sys.settrace(lambda *_: None)
    try:
        intervention.after_step(1)
        left = sys.gettrace(), sys.getprofile(), tracemalloc.is_tracing()
    finally:
        sys.setprofile(None)
        tracemalloc.stop()
        sys.settrace(before)
    assert left == (None, None, False)
    assert intervention.applied == 3


def test_a_program_without_any_is_left_alone(install) -> None:
    intervention = install(DebuggingOff)
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        intervention.after_step(1)
    finally:
        sys.settrace(trace)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert intervention.applied == 0

"""What is on is told at first, and when it changes; nothing is told of a usual program."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

from tb_slowdown_plugin.collectors.python.slow_settings import SlowSettings
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def look(recording):
    """Makes a collector that has not looked yet; what calling it tells."""

    def make(environment=None):
        collector = SlowSettings(environment or {})
        collector.start(recording.context)

        def look():
            told = len(recording.of(Fact))
            assert collector.read_in_thread() == collector.read() == {}
            return [(each.subject, dict(each.numbers)) for each in recording.of(Fact)[told:]]

        return look

    return make


@pytest.fixture
def untraced():
    """No coverage, no debugger."""
    trace = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(trace)


@pytest.fixture
def check_numerics():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


@pytest.fixture
def eager_functions():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def test_nothing_is_told_of_a_usual_program(look, untraced):
    looks = look({"TF_CPP_MAX_VLOG_LEVEL": "0", "ONEDNN_VERBOSE": "none", "HOME": "/root"})
    assert looks() == looks() == []


def test_what_tensorflow_does_for_each_operation_was_on_before(look, untraced, check_numerics):
    looks = look()
    assert looks() == [("check_numerics", {"on": 1.0, "before": 1.0})]
    assert looks() == []
    tf.debugging.disable_check_numerics()
    assert looks() == [("check_numerics", {"on": 0.0})]


def test_functions_that_run_eagerly_are_told(look, untraced, eager_functions):
    assert look()() == [("functions_run_eagerly", {"on": 1.0, "before": 1.0})]


def test_what_is_switched_on_meanwhile_was_off_before(look, untraced):
    looks = look()
    assert looks() == []
    tracemalloc.start()
    try:
        assert looks() == [("tracemalloc", {"on": 1.0})]
    finally:
        tracemalloc.stop()
    assert looks() == [("tracemalloc", {"on": 0.0})]


@pytest.mark.parametrize(
    ("switch", "setting"),
    [(sys.settrace, "trace_function"), (sys.setprofile, "profile_function")],
)
def test_a_function_that_python_calls_is_told(look, untraced, switch, setting):
    looks = look()
    switch(lambda *_: None)
    try:
        told = looks()
    finally:
        switch(None)
    assert told == [(setting, {"on": 1.0, "before": 1.0})]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 has sys.monitoring")
def test_a_tool_of_pythons_monitoring_is_told(look, untraced):
    sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "coverage")
    try:
        assert [setting for setting, _ in look()()] == ["trace_function"]
    finally:
        sys.monitoring.free_tool_id(sys.monitoring.COVERAGE_ID)


@pytest.mark.parametrize(
    ("environment", "setting"),
    [
        ({"TF_CPP_MAX_VLOG_LEVEL": "1"}, "verbose_logs"),
        ({"TF_CPP_VMODULE": "executor=2"}, "verbose_logs"),
        ({"ONEDNN_VERBOSE": "1"}, "verbose_logs"),
        ({"CUDA_LAUNCH_BLOCKING": "1"}, "launch_blocking"),
    ],
)
def test_variables_of_the_environment_are_told(look, untraced, environment, setting):
    assert look(environment)() == [(setting, {"on": 1.0, "before": 1.0})]

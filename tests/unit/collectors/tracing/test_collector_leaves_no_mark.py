"""The trace hook changes no result, swallows no exception, keeps nothing and is removed."""

from __future__ import annotations

import gc
import sys
import traceback
import weakref
from pathlib import Path

import pytest
from unit.collectors.hooked import hooked_by
from unit.collectors.tracing_programs import Config, accounts, make, one_hot, program, traces

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.tracing.functions import TracedFunctions
from tb_slowdown_plugin.records.types import Execution, Trace

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

from tensorflow.python.eager.polymorphic_function import (  # noqa: E402
    tracing_compilation as hooked,
)

PACKAGE = str(Path(sys.modules["tb_slowdown_plugin"].__file__).parent)


def test_results_are_the_same_bit_for_bit(recording, tracer):
    without = program()
    tracer.start(recording.context)
    watched = program()
    tracer.stop()
    assert watched == without == program()


def test_an_exception_of_the_users_passes_unchanged(traced):
    raised = ValueError("mine")

    @tf.function(autograph=False)
    def broken(x):
        raise raised

    @tf.function(autograph=False)
    def outer(x):
        return broken(x)

    for _ in range(2):
        with pytest.raises(ValueError, match="mine") as caught:
            outer(tf.ones(3))
        assert caught.value is raised
        frames = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert frames[-1] == __file__
        if sys.version_info >= (3, 11):
            assert not any(name.startswith(PACKAGE) for name in frames)
        assert traced.stopwatch.depth == 0
        assert set(accounts(traced)) == {"tracing:first"}
    assert traces(traced) == []


def test_an_exception_of_a_first_run_passes_unchanged(traced):
    @tf.function
    def divide(x):
        return 1 // x

    with pytest.raises(tf.errors.InvalidArgumentError):
        divide(tf.constant(0))
    assert traced.stopwatch.depth == 0
    assert traced.of(Execution) == []
    assert int(divide(tf.constant(1))) == 1


def test_accounts_left_open_by_an_exception_are_closed(traced):
    @tf.function(autograph=False)
    def broken(x):
        traced.stopwatch.open("forward")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken(tf.ones(3))
    assert traced.stopwatch.depth == 0


def test_a_failure_of_the_collector_is_reported_and_training_goes_on(
    recording, tracer, monkeypatch
):
    def fail(*_):
        message = "secret"
        raise KeyError(message)

    monkeypatch.setattr(TracedFunctions, "judge", fail)
    tracer.start(recording.context)
    assert float(make()(one_hot(3))) == 1.0
    assert recording.failures == [("tracing", "KeyError in fail")]
    assert recording.of(Trace) == []
    assert accounts(recording) == {}


def test_a_sink_that_fails_is_reported_and_training_goes_on(recording, tracer):
    def fail(_):
        raise OSError

    context = Context(recording.clock, recording.stopwatch, fail, recording.context.report_failure)
    tracer.start(context)
    f = make()
    assert [float(f(one_hot(3))) for _ in range(3)] == [1.0, 1.0, 1.0]
    assert set(recording.failures) == {("tracing", "OSError in fail")}
    assert recording.stopwatch.depth == 0


def test_stop_puts_back_what_was_there(recording, tracer):
    f = make()
    tracer.start(recording.context)
    concrete = f.get_concrete_function(one_hot(3))
    assert len(hooked_by("tracing")) == 6
    assert "_call_flat" in vars(concrete)
    tracer.stop()
    tracer.stop()
    assert hooked_by("tracing") == []
    assert "_call_flat" not in vars(concrete)
    recording.events.clear()
    make()(one_hot(3))
    assert recording.events == []


def test_a_wrapper_of_somebody_elses_stays_and_ours_only_passes_on(recording, tracer):
    original = hooked._create_concrete_function
    calls = []
    tracer.start(recording.context)
    ours = hooked._create_concrete_function

    def theirs(*args):
        calls.append(args)
        return ours(*args)

    hooked._create_concrete_function = theirs
    try:
        tracer.stop()
        assert hooked._create_concrete_function is theirs
        assert float(make()(one_hot(3))) == 1.0
    finally:
        hooked._create_concrete_function = original
    assert len(calls) == 1
    assert recording.events == []


def test_a_stop_in_the_middle_of_a_trace_is_no_harm(recording, tracer):
    tracer.start(recording.context)

    @tf.function(autograph=False)
    def step(x):
        tracer.stop()
        return x + 1

    assert step(tf.ones(2)).numpy().tolist() == [2.0, 2.0]
    assert recording.stopwatch.depth == 0


def test_a_collector_can_start_again(recording, tracer):
    f = make()
    for value in (0.1, 0.2):
        tracer.start(recording.context)
        f(value)
        tracer.stop()
    assert [trace.cause for trace in traces(recording)] == ["first", "signature"]


def test_nothing_of_the_users_is_kept_alive(traced):
    config, f = Config(), make()
    references = [weakref.ref(config), weakref.ref(f.get_concrete_function(1, cfg=config))]
    f(1, cfg=config)
    f(2, cfg=config)
    gc.collect()
    del config, f
    gc.collect()
    assert [reference() for reference in references] == [None, None]


@pytest.mark.parametrize("name", ["_maybe_define_function", "_create_concrete_function"])
def test_a_tensorflow_without_the_hooks_is_told(recording, tracer, monkeypatch, name):
    monkeypatch.delattr(hooked, name)
    with pytest.raises(Unavailable, match=rf"TensorFlow {tf.__version__} has no tracing hooks"):
        tracer.start(recording.context)


def test_a_tensorflow_with_other_hooks_is_told(recording, tracer, monkeypatch):
    def other(args, kwargs):
        return None

    monkeypatch.setattr(hooked, "_maybe_define_function", other)
    with pytest.raises(Unavailable, match="take other arguments"):
        tracer.start(recording.context)
    assert hooked._maybe_define_function is other


def test_no_tensorflow_is_told(recording, tracer, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(Unavailable, match="TensorFlow is not installed"):
        tracer.start(recording.context)

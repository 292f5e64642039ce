"""Tapes that stay open, on real GradientTapes."""

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.memory.tapes import Tapes
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

NONE = {"open_tapes": 0, "oldest_tape_steps": 0, "live_tapes": 0}


@pytest.fixture
def collector(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    collector = Tapes()
    collector.start(recording.context)
    yield collector
    collector.stop()


def test_a_tape_within_a_step_is_ordinary(recording, collector):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert collector.read() == {**NONE, "live_tapes": 1}
    assert float(tape.gradient(y, x)) == 4.0
    recording.steps += 1
    assert collector.read() == NONE
    assert recording.events == []


def test_a_tape_around_the_loop_is_told_with_its_age_and_place(recording, collector):
    def train():
        with tf.GradientTape(persistent=True) as tape:
            for _ in range(40):
                recording.steps += 1
                values.append(collector.read())
        return tape

    values = []
    line = train.__code__.co_firstlineno + 1
    train()
    assert values[0] == {"open_tapes": 1, "oldest_tape_steps": 1, "live_tapes": 1}
    assert values[-1] == {"open_tapes": 1, "oldest_tape_steps": 40, "live_tapes": 1}
    assert collector.read() == NONE
    facts = recording.of(Fact)
    assert [fact.numbers["age_steps"] for fact in facts] == [10, 20, 40]
    assert facts[0].subject == f"train (tests/unit/collectors/memory/test_tapes.py:{line})"


def test_persistent_tapes_that_are_kept_are_alive_but_not_open(recording, collector):
    kept = []
    for _ in range(3):
        recording.steps += 1
        with tf.GradientTape(persistent=True) as tape:
            tf.constant(1.0) + 1.0
        kept.append(tape)
    assert collector.read() == {**NONE, "live_tapes": 3}
    kept.clear()
    del tape
    assert collector.read() == NONE


def test_a_tape_that_pauses_is_one_open_tape(recording, collector):
    with tf.GradientTape() as tape:
        recording.steps += 3
        with tape.stop_recording():
            paused = collector.read()
        assert paused == collector.read()
    assert paused == {"open_tapes": 1, "oldest_tape_steps": 3, "live_tapes": 1}


def test_a_tape_opened_before_the_start_is_known_from_its_next_pause_on(recording, collector):
    collector.stop()
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()
    collector.start(recording.context)

    def train():
        for _ in range(30):
            with tape.stop_recording():
                recording.steps += 1
            collector.read()

    line = train.__code__.co_firstlineno + 2
    train()
    assert collector.read() == {"open_tapes": 1, "oldest_tape_steps": 29, "live_tapes": 1}
    assert recording.of(Fact)[0].subject.startswith(
        "train (tests/unit/collectors/memory/test_tapes.py:"
    )
    assert recording.of(Fact)[0].subject.endswith(f":{line})")
    tape.__exit__(None, None, None)


def test_a_tape_that_is_reset_begins_anew(recording, collector):
    with tf.GradientTape() as tape:
        recording.steps += 3
        tape.reset()
        recording.steps += 2
        assert collector.read()["oldest_tape_steps"] == 2


def test_a_tape_that_a_gradient_has_emptied_holds_nothing(recording, collector):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
        recording.steps += 1
        assert collector.read() == NONE


def test_a_step_computes_gradients_by_a_tape_of_an_earlier_one(recording, collector):
    watch = recording.stopwatch
    watch.claim()
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        for _ in range(2):
            watch.ran = 0
            tape.gradient(x * x, x)
            assert watch.ran == 1


def test_an_exception_closes_the_tape(recording, collector):
    with pytest.raises(ZeroDivisionError), tf.GradientTape():
        raise ZeroDivisionError
    recording.steps += 5
    assert collector.read() == NONE


def test_stop_puts_tensorflows_own_methods_back(recording):
    collector = Tapes()
    collector.start(recording.context)
    assert len(hooked_by("tapes")) == 3
    with tf.GradientTape():
        collector.stop()
    assert hooked_by("tapes") == []


def test_a_tensorflow_without_these_methods_is_named(recording, monkeypatch):
    from tensorflow.python.eager import backprop

    monkeypatch.setattr(backprop, "GradientTape", type("Other", (), {}))
    with pytest.raises(Unavailable, match="no _push_tape, __exit__"):
        Tapes().start(recording.context)

"""Which functions make steps, and which only compute."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.writer.launch.training.known_functions import KnownFunctions  # noqa: E402

pytestmark = pytest.mark.tensorflow

weight = tf.Variable(1.0)


@tf.function
def update(x):
    weight.assign_sub(x)


@tf.function
def energy(x):
    return x * 2.0


def learned(known: KnownFunctions, function) -> tuple[str, bool] | None:
    function(tf.constant(0.1))
    found = known.learn(function)
    return found and (found.kind, found.trains)


def test_a_function_that_trains_is_known_from_its_first_call() -> None:
    known = KnownFunctions("", lambda *_: False)
    assert known.find(update) is None
    assert learned(known, update) == ("update", True)
    assert known.find(update) is not None
    assert learned(known, energy) is None
    assert [name.partition(" (")[0] for name in known.others] == ["energy"]


def test_what_other_calls_took_adds_up() -> None:
    known = KnownFunctions("", lambda *_: False)
    for seconds in (0.0, 0.5, 0.25):
        known.learn(energy, seconds)
    assert [(each.calls, each.seconds) for each in known.others.values()] == [(3, 0.75)]


def test_of_what_makes_no_step_it_is_known_whether_it_computes_gradients() -> None:
    weight = tf.Variable(1.0)

    @tf.function
    def collect(x):
        with tf.GradientTape() as tape:
            loss = weight * x
        return tape.gradient(loss, weight)

    known = KnownFunctions("", lambda *_: False)
    assert learned(known, collect) is None
    assert learned(known, energy) is None
    assert [each.compute_gradients for each in known.others.values()] == [True, False]


def test_only_the_one_that_is_meant_makes_steps() -> None:
    known = KnownFunctions("energy", lambda *_: True)
    assert learned(known, update) is None
    assert learned(known, energy) == ("energy", True)


def test_what_only_computes_is_forgotten_and_what_trains_is_not() -> None:
    known = KnownFunctions("", lambda *_: True)
    assert learned(known, energy) == ("energy", False)
    assert learned(known, update) == ("update", True)
    assert not known.others
    known.forget_computing()
    assert known.find(energy) is None
    assert known.find(update) is not None

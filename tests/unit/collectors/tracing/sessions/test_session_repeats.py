"""A run of a session that computes again what the one before has computed is known, and told."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.tracing.sessions.session_calls import SessionRuns
from tb_slowdown_plugin.collectors.tracing.sessions.session_repeats import (
    SessionRepeats,
    share_of_repeat,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


class Model:
    """Of TensorFlow 1, with what may be asked for."""

    def __init__(self):
        v1 = tf.compat.v1
        with tf.Graph().as_default() as self.graph:
            self.x = v1.placeholder(tf.float32, (None, 16), name="x")
            self.rate = v1.placeholder(tf.float32, (), name="rate")
            weights = v1.get_variable("weights", (16, 16))
            hidden = tf.matmul(self.x, weights)
            self.loss = tf.reduce_sum(tf.square(hidden), name="loss")
            self.other = tf.reduce_sum(tf.matmul(tf.exp(hidden), tf.exp(hidden), transpose_b=True))
            self.train = v1.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
            self.second = v1.train.GradientDescentOptimizer(self.rate).minimize(self.other)
            self.taken = tf.matmul(
                v1.data.make_one_shot_iterator(
                    tf.data.Dataset.from_tensors(tf.ones((4, 16)))
                ).get_next(),
                weights,
            )
            self.weights = tf.identity(weights)
            self.begin = v1.global_variables_initializer()


@pytest.fixture(scope="module")
def model():
    return Model()


@pytest.fixture
def told():
    return []


def look(repeats, model, fetch, **feeds):
    names = (getattr(model, fetch).name,)
    return repeats.look(model, names, feeds, lambda: f"train.py:{ord(fetch[0])}")


def test_the_loss_after_the_update_is_a_repeat_from_the_third_time_on(model, told):
    repeats = SessionRepeats(told.append)
    found = []
    for _ in range(4):
        batch, rate = np.ones((4, 16)), np.float32(0.1)
        look(repeats, model, "train", x=batch, rate=rate)
        found.append(look(repeats, model, "loss", x=batch))
    assert found[:2] == [None, None]
    assert found[3].account == "repeated_pass:train.py:108"
    assert found[3].share == pytest.approx(1, abs=0.01)
    (fact,) = told
    assert (fact.name, fact.subject) == ("repeated_run", "train.py:108")
    assert fact.numbers == {"share": found[3].share, "after": 116.0}


@pytest.mark.parametrize(
    "feeds",
    [
        lambda: ({"x": np.ones(4)}, {"x": np.ones(4)}),
        lambda: ({"rate": 0.1}, {"rate": 0.2}),
        lambda: ({"x": [1.0]}, {"x": [1.0]}),
        lambda: ({"rate": 0.1}, {"rate": 0.1, "x": np.ones(4)}),
    ],
    ids=["another array", "another number", "lists", "more"],
)
def test_runs_of_other_feeds_are_no_repeat(model, told, feeds):
    repeats = SessionRepeats(told.append)
    for _ in range(5):
        first, then = feeds()
        look(repeats, model, "train", **first)
        assert look(repeats, model, "loss", **then) is None


def test_a_batch_is_not_kept_alive(model, told):
    import weakref

    repeats = SessionRepeats(told.append)
    batch = np.ones((4, 16))
    alive = weakref.ref(batch)
    look(repeats, model, "train", x=batch)
    del batch
    assert alive() is None


@pytest.mark.parametrize(
    ("fetch", "share"),
    [("loss", 1), ("second", 0), ("taken", 0), ("weights", 0), ("begin", 0)],
    ids=["loss", "another update", "input of its own", "weights", "variables"],
)
def test_what_a_run_has_to_do_is_no_repeat(model, fetch, share):
    asked = getattr(model, fetch).name
    found = share_of_repeat(model.graph, [model.train.name], [asked])
    assert found == pytest.approx(share, abs=0.01)


def test_what_only_the_second_run_computes_is_not_counted(model):
    share = share_of_repeat(model.graph, [model.train.name], [model.loss.name, model.other.name])
    assert 0.2 < share < 0.8


def test_the_seconds_of_a_repeat_have_an_account(model, told, recording):
    watch = recording.stopwatch
    watch.claim()
    runs = SessionRuns(
        watch, lambda: 0, lambda _: 1, lambda _: None, place_of=lambda _: "train.py:9",
        repeats=SessionRepeats(told.append), monotonic_ns=watch._now,
    )  # fmt: skip

    def run(session, *words):
        call = runs.run(session, *words)
        next(call)
        session.run(*words)
        with pytest.raises(StopIteration):
            call.send(None)

    with tf.compat.v1.Session(graph=model.graph) as session:
        session.run(model.begin)
        for _ in range(3):
            watch.take()
            feeds = {model.x: np.ones((4, 16)), model.rate: 0.1}
            run(session, model.train, feeds)
            run(session, model.loss, feeds)
    assert watch.take()["repeated_pass:train.py:9"] > 0

"""A step of a TensorFlow 1 session knows how much it was fed."""

from __future__ import annotations

from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch  # noqa: E402
from tb_slowdown_plugin.collectors.tracing.sessions.session_calls import (  # noqa: E402
    SessionRuns,
    size_of_feeds,
)
from tests.unit.collectors.tracing.test_step_functions import named  # noqa: E402


@pytest.mark.parametrize(
    ("feeds", "size"),
    [
        ({"a": np.zeros((4, 5)), "b": np.zeros(3), "c": 0.1}, 20),
        ({"a": [1, 2, 3]}, 0),
        ({}, 0),
        (None, 0),
    ],
)
def test_the_largest_feed_counts(feeds, size):
    assert size_of_feeds(feeds) == size


def test_each_run_is_counted_with_what_it_is_fed_and_told_apart_by_what_it_runs(traced):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tokens = tf.compat.v1.placeholder(tf.float32, [None, 4])
        total, two = tf.reduce_sum(tokens, name="total"), tf.constant(2.0, name="two")
        assert session.run(two) == 2.0
        watch = traced.stopwatch
        assert (watch.ran, watch.calls, watch.argument_size) == (0b10, 1, 0)
        for length in (5, 10):
            feeds = {tokens: np.ones((length, 4))}
            assert session.run({"sum": [total]}, feed_dict=feeds) == {"sum": [4 * length]}
    assert (watch.ran, watch.calls, watch.argument_size) == (0b110, 3, 60)
    assert named(traced) == {1: "Session.run of two", 2: "Session.run of total"}


class Unnamed:
    """Something whose name can't be read."""

    @property
    def name(self):
        raise RuntimeError("not now")


def test_a_fetch_whose_name_cannot_be_read_is_counted_and_the_program_sees_nothing(recording):
    watch = recording.stopwatch
    watch.claim()
    call = SessionRuns(watch, lambda: 0, pytest.fail, pytest.fail).run(None, [Unnamed()])
    next(call)
    with pytest.raises(StopIteration):
        call.send(1.0)
    assert (watch.ran, watch.calls) == (0, 1)


def test_operations_that_are_made_again_are_the_same_run(traced):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for value in range(3):
            with tf.compat.v1.name_scope("mean"):
                session.run(tf.constant(value, name="loss"))
    assert traced.stopwatch.ran == 0b10
    assert named(traced) == {1: "Session.run of mean/loss"}


class Session:
    """Takes CPU time in `run`, as much as it is told, and counts what its graph is told to have."""

    def __init__(self):
        self.now_ns = 1
        self.watch = Stopwatch(lambda: self.now_ns)
        self.watch.claim()
        self.graph = SimpleNamespace(version=1)
        self.told = []
        self.runs = SessionRuns(
            self.watch,
            lambda: self.now_ns,
            lambda _: 1,
            lambda _: None,
            lambda frame, sets: self.told.append((frame.f_code.co_name, sets)),
            lambda frame: "train.py:9",
        )

    def run(self, name, extend_ns=0, call_ns=0, feeds=None, feed_ns=0, fetch_ns=0):
        """As TensorFlow's: converts feeds, sorts fetches, extends, runs; gives what was booked."""

        def inside():
            self.now_ns += feed_ns
            self.around(self.runs.end_feeding(self), fetch_ns)
            for ns in (extend_ns, call_ns):
                self.around(self.runs.prepare(self), ns)

        self.around(self.runs.run(self, name, feeds), inside)
        return self.watch.take()

    def around(self, hook, inside):
        next(hook)
        if callable(inside):
            inside()
        else:
            self.now_ns += inside
        with pytest.raises(StopIteration):
            hook.send(None)


class TestPreparing:
    @pytest.fixture
    def session(self):
        return Session()

    def test_the_first_run_of_anything_is_a_first_execution(self, session):
        assert session.run("init", 5_000, 20_000) == {"first_execution:first": 25_000}
        session.graph.version = 9
        assert session.run("train", 7_000, 30_000) == {"first_execution:first": 37_000}

    def test_what_was_run_before_has_nothing_to_prepare(self, session):
        session.run("train", 5_000, 20_000)
        assert session.run("train", 30, 400) == {}

    def test_operations_that_are_made_again_are_prepared_each_time(self, session):
        session.run("rate/Assign", 5_000, 20_000)
        booked = []
        for nth in range(1, 4):
            session.graph.version += 3
            booked.append(session.run(f"rate/Assign_{nth}", 6_000, 10_000))
        assert booked == [{"session_prepare": 16_000}] * 3

    def test_a_graph_that_grows_beside_what_is_run_is_extended(self, session):
        session.run("train", 5_000, 20_000)
        session.graph.version += 1
        assert session.run("train", 6_000, 100) == {"session_prepare": 6_100}

    def test_operations_that_were_all_made_before_are_no_graph_that_grows(self, session):
        """Fourteen means are fetched one after another in a warm-up."""
        session.run("Mean", 5_000, 20_000)
        assert session.run("Mean_1", 30, 9_000) == {"first_execution:first": 9_030}

    def test_sets_of_fetches_beyond_the_usual_ones_have_an_account_of_their_own(self, session):
        booked = [session.run(f"norm_{chr(97 + nth)}", 50, 9_000) for nth in range(20)]
        assert booked == [
            *[{"first_execution:first": 9_050}] * 16,
            *[{"session_prepare:fetches": 9_050}] * 4,
        ]
        assert session.run("norm_t", 30, 400) == {}
        assert session.told == [("around", 1), ("around", 2), ("around", 4)]

    def test_operations_of_a_graph_that_grows_are_no_other_sets(self, session):
        session.run("rate/Assign", 5_000, 20_000)
        for nth in range(1, 30):
            session.graph.version += 3
            session.run(f"rate/Assign_{nth}", 6_000, 10_000)
        assert session.run("loss", 50, 9_000) == {"first_execution:first": 9_050}
        assert session.told == []

    def test_what_feeds_take_before_the_run_is_booked_to_its_line(self, session):
        feeds = {"table:0": np.zeros(4)}
        session.run("train", 5_000, 20_000, feeds, 30_000)
        assert session.run("train", 30, 400, feeds, 9_000_000) == {"feeding:train.py:9": 9_000_000}
        assert session.run("train", 30, 400, feeds, 400_000) == {}, "as each run takes"
        assert session.run("train", 30, 400, feeds, 400_000, 9_000_000) == {}, "many fetches"
        assert session.run("train", 30, 400, None, 9_000_000) == {}

    def test_another_thread_is_not_timed(self, session):
        session.run("train", 5_000, 20_000)
        session.graph.version += 1
        thread = Thread(target=lambda: session.around(session.runs.prepare(session), 9_000))
        thread.start()
        thread.join()
        assert session.watch.take() == {}


def test_tensorflow_s_own_session_tells_what_it_prepares(traced):
    watch = traced.stopwatch
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        rate = tf.compat.v1.get_variable("rate", [])
        session.run(tf.compat.v1.global_variables_initializer())
        once = tf.compat.v1.assign(rate, 0.5)
        session.run(once)
        watch.take()
        session.run(once)
        assert watch.take() == {}
        for value in (0.25, 0.125):
            assert session.run(tf.compat.v1.assign(rate, value)) == value
        assert list(watch.take()) == ["session_prepare"]
        graph.finalize()
        assert session.run(once) == 0.5
        assert watch.take() == {}


@pytest.mark.timed  # a feed that a neighbor interrupts takes as long as one that is converted
def test_tensorflow_s_own_session_tells_what_it_converts_and_not_what_its_fetches_take(traced):
    watch = traced.stopwatch
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        row = tf.compat.v1.placeholder(tf.float32, [None])
        many = [row + float(number) for number in range(400)]
        graph.finalize()
        for feed in (np.zeros(4, np.float32), [0.5] * 400_000):
            session.run(many[:1], {row: feed})
        assert len(session.run(many, {row: np.zeros(4, np.float32)})) == 400
        watch.take()
        session.run(many, {row: np.zeros(4, np.float32)})
        assert watch.take() == {}
        session.run(many[:1], {row: [0.5] * 400_000})
        ((name, seconds),) = watch.take().items()
    assert name.startswith("feeding:tests/unit/collectors/tracing/sessions/test_session_calls.py:")
    assert seconds > 500_000

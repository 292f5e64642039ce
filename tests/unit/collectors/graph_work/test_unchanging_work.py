"""A function that trains on the same tensors in each call is told with the line that repeats."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.graph_work.unchanging_work import UnchangingWork
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

SIDE, CALLS = 256, 20
HERE = "test_unchanging_work.py"


@pytest.fixture
def collector(traced, tracer):
    made = UnchangingWork(tracer)
    made.start(traced.context)
    yield made
    made.stop()


class Training:
    """A layer on the inverse of a matrix."""

    def __init__(self):
        self.weights = tf.Variable(tf.ones([SIDE, 8]))
        self.held = tf.eye(SIDE) * 3

    @tf.function
    def train(self, matrix, rate=0.1):
        inverse = tf.linalg.inv(matrix)
        self.weights.assign_sub(rate * tf.matmul(inverse, self.weights))

    @tf.function
    def train_on_held(self):
        self.weights.assign_sub(0.1 * tf.matmul(tf.linalg.inv(self.held), self.weights))

    @tf.function
    def score(self, matrix):
        return tf.reduce_sum(tf.matmul(tf.linalg.inv(matrix), self.weights))


class Teaching(Training):
    """Learns what another layer makes of the same rows."""

    def __init__(self):
        super().__init__()
        self.teacher = tf.Variable(tf.ones([SIDE, SIDE]))

    @tf.function
    def learn(self, rows):
        wanted = tf.nn.relu(tf.matmul(rows, self.teacher))
        self.weights.assign_sub(0.1 * tf.matmul(wanted, self.weights))

    @tf.function
    def learn_both(self, rows):
        self.teacher.assign_sub(0.01 * tf.matmul(rows, self.teacher))
        self.learn(rows)


def tell(traced, collector, call, calls=CALLS):
    for number in range(calls):
        call(number)
    collector.look_once()
    return [each for each in traced.of(Fact) if each.name == "unchanging_work"]


MATRIX = tf.eye(SIDE) * 2
ROWS = np.eye(SIDE, dtype=np.float32)


@pytest.mark.parametrize("method", ["train", "train_on_held"], ids=["given", "captured"])
def test_the_line_is_told_with_its_share(traced, collector, method):
    training = Training()
    given = [MATRIX] if method == "train" else []
    traced.steps = 7
    (fact,) = tell(traced, collector, lambda _: getattr(training, method)(*given))
    line = getattr(Training, method).python_function.__code__.co_firstlineno + 2
    assert fact.subject == f"{method} (tests/unit/collectors/graph_work/{HERE}:{line})"
    assert fact.numbers["share"] > 0.5
    assert fact.numbers["since"] == 7


@pytest.mark.parametrize(
    "call",
    [
        lambda training: lambda _: training.train(tf.identity(MATRIX)),
        lambda training: lambda number: training.train(MATRIX if number else tf.eye(SIDE)),
        lambda training: lambda _: training.train(ROWS),
        lambda training: lambda _: training.score(MATRIX),
    ],
    ids=["other tensors", "another one at first", "an array may change", "nothing is trained"],
)
def test_nothing_is_told_otherwise(traced, collector, call):
    assert tell(traced, collector, call(Training())) == []


def test_nothing_is_told_before_enough_calls_and_nothing_twice(traced, collector):
    training = Training()
    assert tell(traced, collector, lambda _: training.train(MATRIX), CALLS - 1) == []
    assert len(tell(traced, collector, lambda _: training.train(MATRIX), 3 * CALLS)) == 1
    assert traced.failures == []


def test_a_function_that_is_traced_again_is_left_alone(traced, collector):
    training = Training()

    def call(number):
        training.train(MATRIX, 0.1 if number < CALLS // 2 else 0.2)

    assert tell(traced, collector, call) == []


def test_it_is_told_in_a_fit(traced, collector):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.matrix = tf.eye(SIDE) * 2
            self.head = keras.layers.Dense(1)

        def call(self, x):
            return self.head(tf.matmul(tf.linalg.inv(self.matrix), x))

    net = Net()
    net.compile("sgd", "mse")
    rows = np.ones((SIDE, 8), "f")
    net.fit(rows, rows[:, :1], batch_size=SIDE, epochs=CALLS, shuffle=False, verbose=0)
    (fact,) = tell(traced, collector, lambda _: None)
    first = Net.call.__code__.co_firstlineno
    assert f"{HERE}:{first + 1})" in fact.subject


@pytest.mark.parametrize("as_tensor", [True, False], ids=["a tensor", "an array"])
def test_a_matrix_of_zeros_is_told_in_a_fit(traced, collector, as_tensor):
    side = 600
    zeros = np.eye(side, dtype=np.float32)

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.matrix = tf.constant(zeros) if as_tensor else zeros
            self.head = keras.layers.Dense(1)

        def call(self, x):
            return tf.matmul(self.matrix, self.head(x))

    net = Net()
    net.compile("sgd", "mse")
    rows = np.ones((side, 8), "f")
    net.fit(rows, rows[:, :1], batch_size=side, epochs=CALLS, shuffle=False, verbose=0)
    tell(traced, collector, lambda _: None)
    (fact,) = (each for each in traced.of(Fact) if each.name == "zero_matrix")
    first = Net.call.__code__.co_firstlineno
    assert f"{HERE}:{first + 1})" in fact.subject
    assert (fact.numbers["rows"], fact.numbers["columns"]) == (side, side)
    assert fact.numbers["filled"] == pytest.approx(1 / side, rel=0.1)
    assert 0.1 < fact.numbers["share"] < 1


def learn(traced, collector, call):
    """As many steps again as are compared, and a look in between."""
    for _ in range(2 * CALLS):
        call()
        traced.steps += 1
        collector.look_once()
    return [each for each in traced.of(Fact) if each.name == "unchanging_work"]


def test_weights_that_nothing_trains_stay_the_same_too(traced, collector):
    teaching = Teaching()
    (fact,) = learn(traced, collector, lambda: teaching.learn(MATRIX))
    line = Teaching.learn.python_function.__code__.co_firstlineno + 2
    assert fact.subject == f"learn (tests/unit/collectors/graph_work/{HERE}:{line})"
    assert fact.numbers["share"] > 0.5


def test_those_that_are_trained_elsewhere_or_in_a_function_inside_do_not(traced, collector):
    teaching = Teaching()

    def call():
        teaching.learn(MATRIX)
        teaching.teacher.assign_sub(0.01 * teaching.teacher)

    assert learn(traced, collector, call) == []
    assert learn(traced, collector, lambda: teaching.learn_both(MATRIX)) == []
    assert traced.failures == []


def test_batches_that_are_given_to_a_function_may_be_padded(traced, collector):
    weights = tf.Variable(tf.ones([50, 4]))

    @tf.function
    def train(words):
        weights.assign_sub(0.1 * weights * tf.reduce_mean(tf.gather(weights, words)))

    words = np.where(np.arange(64) < 5 + np.arange(16)[:, None], 1 + np.arange(64) % 49, 0)
    for _ in range(4):
        train(tf.constant(words, tf.int32))
    collector.look_once()
    facts = [each for each in traced.of(Fact) if each.name == "padded_batch"]
    assert (facts[-1].numbers["columns"], facts[-1].numbers["used"]) == (64, 20)

"""Gradients of variables that nobody updates are told, once, with the line."""

from __future__ import annotations

import gc
import weakref

import pytest

from tb_slowdown_plugin.collectors.keras.wide_gradients import WideGradients
from tb_slowdown_plugin.records.types import Fact

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

LARGE, SMALL = (10, 10), (4,)


def look(collector):
    collector.look_once()
    return collector.read()


class Training:
    """A large part and a small one; `step` computes gradients of some and updates some."""

    def __init__(self):
        self.large = tf.Variable(tf.ones(LARGE))
        self.small = keras.Variable(tf.ones(SMALL))
        self.optimizer = keras.optimizers.SGD(0.01)

    def step(self, asked, updated, clip=tf.clip_by_global_norm):
        with tf.GradientTape() as tape:
            small = tf.convert_to_tensor(self.small.value)
            loss = tf.reduce_sum(self.large**2) + tf.reduce_sum(small**2)
        gradients = tape.gradient(loss, [getattr(self, name) for name in asked])
        gradients, _ = clip(gradients, 1.0)
        pairs = [
            (gradient, getattr(self, name))
            for name, gradient in zip(asked, gradients, strict=True)
            if name in updated
        ]
        if pairs:
            self.optimizer.apply_gradients(pairs)
        return loss


@pytest.fixture
def collector(recording):
    made = WideGradients()
    made.start(recording.context)
    yield made
    made.stop()
    assert recording.failures == []


COMPUTES = Training.step.__code__.co_firstlineno + 4


def told(recording):
    return [
        (
            fact.subject.partition(" (")[0].rpartition(".")[2],
            {
                name: number
                for name, number in fact.numbers.items()
                if name not in ("share", "since")
            },
        )
        for fact in recording.of(Fact)
        if fact.name == "wide_gradient"
    ]


BOTH = ("large", "small")
WIDE = {"variables": 2, "updated": 1, "elements": 104, "updated_elements": 4}


@pytest.mark.parametrize(
    ("asked", "updated", "found"),
    [
        (BOTH, ("small",), [("step", WIDE)]),
        (BOTH, BOTH, []),
        (("small",), ("small",), []),
        (BOTH, (), []),
    ],
    ids=["one of two", "all", "as many as asked", "applied elsewhere"],
)
@pytest.mark.parametrize("traced", [True, False])
def test_what_is_computed_and_never_used_is_told(
    recording, collector, asked, updated, found, traced
):
    training = Training()
    step = tf.function(training.step) if traced else training.step
    for recording.steps in range(4):
        step(asked, updated)
    look(collector)
    look(collector)
    assert told(recording) == found
    for fact in recording.of(Fact):
        assert fact.subject.endswith(f"test_wide_gradients.py:{COMPUTES})")


def test_how_much_of_the_graph_is_for_nothing_is_counted(recording, collector):
    training = Training()
    tf.function(training.step)(BOTH, ("small",))
    collector.stop()
    (fact,) = recording.of(Fact)
    # Of the large one: its gradient, 2 times it, and what clipping does with it is used by all.
    assert 0.1 < fact.numbers["share"] < 0.6


def test_a_gradient_that_nobody_needs_is_left_out_of_the_graph(recording, collector):
    tf.function(Training().step)(BOTH, ("small",), clip=lambda gradients, norm: (gradients, norm))
    collector.stop()
    assert told(recording) == []


def test_two_optimizers_of_one_function_use_what_each_of_them_updates(recording, collector):
    training = Training()
    other = keras.optimizers.SGD(0.01)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(training.large**2) + tf.reduce_sum(training.small.value**2)
        large, small = tape.gradient(loss, [training.large, training.small.value])
        training.optimizer.apply([large], [training.large])
        look(collector)  # amid the trace: it isn't looked at before it has ended
        look(collector)
        other.apply([small], [training.small])

    step()
    look(collector)
    look(collector)
    assert told(recording) == []


def test_a_graph_is_not_read_while_operations_are_added_to_it(recording, collector):
    """TensorFlow may fail to tell what uses a tensor, while another thread adds what does."""
    training = Training()

    @tf.function
    def step():
        loss = training.step(BOTH, ("small",))
        look(collector)
        look(collector)
        assert told(recording) == []
        return loss

    step()
    look(collector)
    assert told(recording) == [("step", WIDE)]


def test_a_long_eager_run_is_looked_at_for_a_while(recording, collector):
    training = Training()
    for recording.steps in range(80):
        training.step(BOTH, BOTH)
    training.step(BOTH, ("small",))
    collector.stop()
    assert told(recording) == []


ZEROED = {**WIDE, "zeroed": 1}
ALL_USED = {**WIDE, "updated": 2, "updated_elements": 104}


class TestTimesZero:
    """A part is frozen by a factor for its gradients, which the function reads in each call."""

    def step_of(self, training, factor):
        optimizer = keras.optimizers.SGD(0.01)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                small = tf.convert_to_tensor(training.small.value)
                loss = tf.reduce_sum(training.large**2) + tf.reduce_sum(small**2)
            large, small = tape.gradient(loss, [training.large, training.small.value])
            optimizer.apply([large * factor, small], [training.large, training.small])

        return step

    @pytest.mark.parametrize(
        ("factor", "found"),
        [
            (lambda: 0.0, [("step", ZEROED)]),
            (lambda: tf.constant(0.0), [("step", ZEROED)]),
            (lambda: tf.Variable(0.0), [("step", ZEROED)]),
            (lambda: keras.Variable(0.0), [("step", ZEROED)]),
            (lambda: tf.Variable(0.5), []),
            (lambda: tf.zeros([10, 10]) + 1.0, []),
        ],
        ids=["number", "constant", "variable", "of Keras", "not zero", "array"],
    )
    def test_what_is_multiplied_by_zero_is_told_as_not_updated(
        self, recording, collector, factor, found
    ):
        training = Training()
        self.step_of(training, factor())()
        collector.stop()
        assert told(recording) == found

    def test_a_factor_that_becomes_zero_and_ceases_is_told_with_its_step(
        self, recording, collector
    ):
        factor = tf.Variable(1.0)
        step = self.step_of(Training(), factor)
        for recording.steps, value in enumerate([1.0, 1.0, 0.0, 0.0, 0.2, 0.2]):
            factor.assign(value)
            step()
            look(collector)
        assert told(recording) == [("step", ZEROED), ("step", ALL_USED)]
        first, second = recording.of(Fact)
        assert (first.numbers["since"], second.numbers["since"]) == (2, 4)
        assert first.numbers["share"] > 0
        assert second.numbers["share"] == 0

    def test_of_functions_made_at_one_line_the_newest_counts(self, recording, collector):
        factor = tf.Variable(1.0)
        training = Training()
        first, second = self.step_of(training, factor), self.step_of(training, factor)
        first()
        look(collector)
        look(collector)
        recording.steps = 7
        factor.assign(0.0)
        second()
        look(collector)
        look(collector)
        assert told(recording) == [("step", ZEROED)]
        assert [fact.numbers["since"] for fact in recording.of(Fact)] == [7]


def test_what_is_traced_is_not_kept(collector):
    """By its gradients alone: Keras's optimizers keep a graph that they were traced in."""
    training = Training()

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(training.large**2)
        training.large.assign_sub(tape.gradient(loss, [training.large])[0])

    step()
    look(collector)
    look(collector)
    graph = weakref.ref(step.get_concrete_function().graph)
    del step
    gc.collect()
    assert graph() is None


def ask_by_group(training, targets, **weights):
    """Both variables, one after another, of one tape."""
    with tf.GradientTape(persistent=True) as tape:
        losses = [tf.reduce_sum(training.large**2), tf.reduce_sum(training.small.value**2)]
        losses += [losses[0] + losses[1]]
    for variable, target in zip((training.large, training.small.value), targets, strict=True):
        gradient = tape.gradient(losses[target], variable, **weights)
        variable.assign_sub(0.01 * gradient)


@pytest.mark.parametrize(
    ("targets", "weights", "traced", "found"),
    [
        ((2, 2), {}, False, 2.0),
        ((0, 1), {}, False, None),
        ((2, 2), {"output_gradients": 1.0}, False, None),
        ((2, 2), {}, True, None),
    ],
    ids=["one target", "two targets", "weighted", "in a graph, which merges them"],
)
def test_one_backward_pass_that_is_run_again_is_told(
    recording, collector, targets, weights, traced, found
):
    training = Training()
    weights = {name: tf.constant(value) for name, value in weights.items()}
    step = tf.function(ask_by_group) if traced else ask_by_group
    for _ in range(2):
        step(training, targets, **weights)
        recording.steps += 1
    training.step(("small",), ("small",))  # what was asked in a step is told when it has ended
    look(collector)
    facts = [fact for fact in recording.of(Fact) if "repeated" in fact.numbers]
    assert [fact.numbers["repeated"] for fact in facts] == ([found] if found else [])
    assert [fact.numbers["variables"] for fact in facts] == ([2.0] if found else [])

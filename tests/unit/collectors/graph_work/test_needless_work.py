"""What a graph computes that a step doesn't need is told once a line, for each kind."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Traced
from tb_slowdown_plugin.collectors.graph_work.needless_work import NeedlessWork
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def told():
    return []


def trace(weights, *, again):
    """A step that scales by a diagonal matrix, and makes another pass: its function, its call."""
    asked = Asked("step (train.py:1)", {})

    @tf.function(input_signature=[tf.TensorSpec([32, 32])])
    def step(x):
        scaled = tf.linalg.diag(tf.reduce_sum(x, 1)) @ x
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(scaled @ weights)
        gradient = tape.gradient(loss, weights)
        asked.targets, asked.gradients = [Traced.of(loss)], {0: Traced.of(gradient)}
        weights.assign_sub(gradient)
        return tf.reduce_sum(scaled @ weights) if again else loss

    return step.get_concrete_function(), asked


def test_each_kind_is_told_once_a_line(told):
    needless = NeedlessWork(told.append, SourcePlaces.of_process())
    weights = tf.Variable(tf.ones((32, 32)))
    for since in (0, 5):
        function, asked = trace(weights, again=True)
        needless.look([asked], since)
        del function
    assert [(fact.name, fact.numbers["since"]) for fact in told] == [
        ("repeated_pass", 0.0),
        ("sparse_product", 0.0),
    ]
    lines = {fact.subject.rpartition(":")[2] for fact in told}
    assert len(lines) == 2


def test_what_is_not_there_is_not_told(told):
    function, asked = trace(tf.Variable(tf.ones((32, 32))), again=False)
    NeedlessWork(told.append, SourcePlaces.of_process()).look([asked], 0)
    assert [fact.name for fact in told] == ["sparse_product"]
    del function


def test_of_a_graph_that_is_gone_nothing_is_told(told):
    function, asked = trace(tf.Variable(tf.ones((32, 32))), again=True)
    del function
    import gc

    gc.collect()
    NeedlessWork(told.append, SourcePlaces.of_process()).look([asked, Asked("eager", {})], 0)
    assert told == []


@pytest.mark.parametrize(
    ("columns", "told_as"), [(8, "unrolled_rounds"), (8_192, "pieces")], ids=["small", "large"]
)
def test_a_loop_of_python_that_takes_a_tensor_apart_is_told_once(told, columns, told_as):
    asked = Asked("step (train.py:1)", {})
    weights = tf.Variable(tf.ones((columns,)))

    @tf.function(input_signature=[tf.TensorSpec([32, columns])])
    def step(x):
        with tf.GradientTape() as tape:
            scaled = x * weights
            loss = tf.add_n([tf.reduce_sum(tf.square(scaled[at])) for at in range(32)])
        gradient = tape.gradient(loss, weights)
        asked.targets, asked.gradients = [Traced.of(loss)], {0: Traced.of(gradient)}
        return loss

    function = step.get_concrete_function()
    NeedlessWork(told.append, SourcePlaces.of_process()).look([asked], 0)
    del function
    assert [fact.name for fact in told] == [told_as]


def trace_weighted(weights, factor):
    """A step whose second loss has a weight."""
    asked = Asked("step (train.py:1)", {})

    @tf.function(input_signature=[tf.TensorSpec([256, 256])])
    def step(x):
        with tf.GradientTape() as tape:
            made = tf.nn.relu(x @ weights)
            loss = tf.reduce_mean(made) + factor * tf.reduce_mean((made @ weights) ** 2)
        gradient = tape.gradient(loss, weights)
        asked.targets, asked.gradients = [Traced.of(loss)], {0: Traced.of(gradient)}
        return loss

    return step.get_concrete_function(), asked


def test_what_a_number_of_python_decides_ends_with_a_new_trace_and_begins_again(told):
    needless = NeedlessWork(told.append, SourcePlaces.of_process())
    weights = tf.Variable(tf.ones((256, 256)))
    for since, factor in enumerate((0.0, 0.0, 0.5, 0.7, 0.0)):
        function, asked = trace_weighted(weights, factor)
        needless.look([asked], 10 * since)
        del function
    function, asked = trace_weighted(weights, 0.5)
    needless.look([asked], 20)  # an older one, that is looked at later
    assert {(fact.name, fact.subject) for fact in told} == {("zero_work", told[0].subject)}
    numbers = [(fact.numbers["since"], fact.numbers["share"] > 0.1) for fact in told]
    assert numbers == [(0.0, True), (20.0, False), (40.0, True)]
    del function

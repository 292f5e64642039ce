"""A second pass through a model is found in a traced graph, and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.second_pass import find_second_pass
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, UNITS = 256, 256


def nothing_more(model, weights, x):
    return 0.0


def once_more(model, weights, x):
    return model(x)


def of_other_rows(model, weights, x):
    return model(tf.reverse(x, [0]))


def of_other_weights(model, weights, x):
    return tf.matmul(x, tf.Variable(tf.zeros((UNITS, UNITS)), name="others"))


def find(report, *, before=False, in_loss=False, inside=lambda x: x):
    """In two layers, of which the second has one unit."""
    first = tf.Variable(tf.ones((UNITS, UNITS)))
    last = tf.Variable(tf.ones((UNITS, 1)))
    kept = []

    def model(x):
        return tf.matmul(inside(tf.nn.relu(tf.matmul(x, first))), last)

    @tf.function(input_signature=[tf.TensorSpec([ROWS, UNITS])])
    def step(x):
        told = 0.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
            if in_loss:
                loss += tf.reduce_sum(report(model, first, x))
        if before:
            told = tf.reduce_sum(report(model, first, x))
        gradients = tape.gradient(loss, [first, last])
        kept.append(([loss], gradients))
        for each, gradient in zip((first, last), gradients, strict=True):
            each.assign_sub(gradient)
        if not (before or in_loss):
            told = tf.reduce_sum(report(model, first, x))
        return loss, told

    if report is of_other_weights:
        with tf.init_scope():
            others = tf.Variable(tf.zeros((UNITS, UNITS)))
        report = lambda _, __, x: tf.matmul(x, others)  # noqa: E731
    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_second_pass(StepGraph(*kept[-1]))
    if found is not None:
        places = SourcePlaces.of_process().of_parting(found.operation, found.first)
        found = found, places
    del function
    return found


def test_a_pass_after_the_update_is_counted_and_told_at_its_call():
    found, (place, after) = find(once_more)
    # One of three large products, and an update: the gradient of the input is needed by nobody.
    assert found.share == pytest.approx(0.3, abs=0.05)
    assert found.operation.type == "MatMul"
    assert place.startswith("step (")
    assert 0 < after < int(place.rpartition(":")[2].rstrip(")"))


def test_one_before_the_update_with_other_noise_is_one_too():
    def noise(x):
        return x * tf.random.uniform(x.shape)

    assert find(once_more, before=True, inside=noise) is not None


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (nothing_more, {}),
        (once_more, {"before": True}),
        (once_more, {"in_loss": True}),
        (of_other_rows, {}),
        (of_other_weights, {}),
    ],
    ids=["none", "TensorFlow merges it", "in the loss", "other data", "another model"],
)
def test_what_is_no_second_pass_is_not_told(report, kind):
    assert find(report, **kind) is None

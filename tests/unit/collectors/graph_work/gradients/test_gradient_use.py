"""What the optimizer gets is compared with what was asked, and the rest of the graph is counted."""

from __future__ import annotations

import gc

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Scope, Traced
from tb_slowdown_plugin.collectors.graph_work.gradients.gradient_use import count_places

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

LARGE, SMALL = 1, 2
"""Identities of variables of 100 numbers and of 4."""
LINE = "step (train.py:8)"


def trace(factor, applied=(LARGE, SMALL)):
    """A scope of a graph in which the gradient of the large variable is multiplied."""
    scope = Scope(since=3)

    @tf.function
    def step(large, small):
        with tf.GradientTape() as tape:
            tape.watch([large, small])
            target = tf.reduce_sum(large**2) + tf.reduce_sum(small**2)
        gradients = dict(zip((LARGE, SMALL), tape.gradient(target, [large, small]), strict=True))
        got = {LARGE: gradients[LARGE] * factor, SMALL: gradients[SMALL] * 1.0}
        scope.asked.append(
            Asked(
                LINE,
                {LARGE: 100, SMALL: 4},
                [Traced.of(target)],
                {each: Traced.of(gradient) for each, gradient in gradients.items()},
            )
        )
        scope.applied.update({each: [Traced.of(got[each])] for each in applied})
        return list(got.values())

    return scope, step.get_concrete_function(tf.TensorSpec([10, 10]), tf.TensorSpec([4]))


@pytest.mark.parametrize(
    ("factor", "applied", "numbers"),
    [
        (0.0, (LARGE, SMALL), {"updated": 1, "updated_elements": 4, "zeroed": 1}),
        (0.5, (LARGE, SMALL), {"updated": 2, "updated_elements": 104}),
        (0.5, (SMALL,), {"updated": 1, "updated_elements": 4}),
    ],
    ids=["times zero", "all used", "not applied"],
)
def test_what_moves_no_variable_is_counted(factor, applied, numbers):
    scope, _function = trace(factor, applied)
    (found,) = count_places(scope, scope.find_zero_numbers()).items()
    line, counted = found
    share = counted.pop("share")
    assert (line, counted) == (LINE, {"variables": 2, "elements": 104} | numbers)
    assert (share > 0.2) == (numbers["updated"] < 2)


def test_where_the_optimizer_gets_none_of_them_nothing_is_told():
    scope, _function = trace(0.5, applied=())
    assert count_places(scope, []) == {}


def test_of_a_graph_that_is_gone_nothing_is_counted():
    scope, function = trace(0.0)
    numbers = scope.find_zero_numbers()
    del function
    gc.collect()
    assert scope.asked[0].targets[0].find() is None
    assert count_places(scope, numbers)[LINE]["share"] == 0.0


def watch():
    """A scope that asks twice in one line for what is watched, and once for what is applied."""
    scope, weight = Scope(since=3), tf.Variable(tf.ones([10, 10]))

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            targets = [tf.reduce_sum((x @ weight) ** power) for power in (2, 3)]
            whole = tf.add_n(targets)
        gradients = [tape.gradient(each, weight) for each in (*targets, whole)]
        for line, target, gradient in zip(
            ("watch", "watch", "train"), (*targets, whole), gradients, strict=True
        ):
            asked = {LARGE: Traced.of(gradient)}
            scope.asked.append(Asked(line, {LARGE: 100}, [Traced.of(target)], asked))
        scope.applied[LARGE] = [Traced.of(gradients[-1])]
        weight.assign_sub(gradients[-1])
        return [tf.norm(each) for each in gradients[:2]]

    # Traced for each of two shapes, each step asks twice.
    return scope, [step.get_concrete_function(tf.TensorSpec([rows, 10])) for rows in (4, 8)]


def test_what_a_function_returns_may_be_applied_elsewhere():
    scope, _function = trace(0.5, applied=())
    scope.asked[0].gradients.pop(SMALL)
    assert count_places(scope, []) == {}


def test_gradients_of_which_only_numbers_are_made_are_watched():
    scope, _functions = watch()
    counted = count_places(scope, [])
    share = counted["watch"].pop("share")
    assert counted["watch"] == {
        "variables": 1,
        "updated": 0,
        "elements": 100,
        "updated_elements": 0,
        "watched": 2,
    }
    assert 0.2 < share < 0.7
    assert counted["train"]["updated"] == 1


def test_gradients_that_are_only_added_up_are_one_too_many():
    scope, weight = Scope(since=3), tf.Variable(tf.ones([10, 10]))

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            hidden = x @ weight
            targets = [tf.reduce_sum(hidden**power) for power in (2, 3, 4)]
        gradients = [tape.gradient(each, weight) for each in targets]
        for target, gradient in zip(targets, gradients, strict=True):
            asked = {LARGE: Traced.of(gradient)}
            scope.asked.append(Asked(LINE, {LARGE: 100}, [Traced.of(target)], asked))
        total = tf.add_n(gradients)
        scope.applied[LARGE] = [Traced.of(total)]
        weight.assign_sub(total)

    functions = [step.get_concrete_function(tf.TensorSpec([rows, 10])) for rows in (4, 8)]
    assert len(functions) == 2
    ((line, counted),) = count_places(scope, []).items()
    share = counted.pop("share")
    assert line == LINE
    assert counted == {
        "variables": 1,
        "updated": 1,
        "elements": 100,
        "updated_elements": 100,
        "summed": 3,
    }
    assert 0.3 < share < 0.7


def test_calls_that_go_back_through_a_loop_again_are_told_at_the_last():
    scope = Scope(since=3)

    @tf.function
    def step(x, large, small):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([large, small])
            hidden = x * small[0]
            for _ in tf.range(6):
                hidden = tf.tanh(hidden @ large)
            target = tf.reduce_sum(hidden)
        for line, key, elements, variable in (("a", LARGE, 100, large), ("b", SMALL, 4, small)):
            got = Traced.of(tape.gradient(target, variable))
            scope.asked.append(Asked(line, {key: elements}, [Traced.of(target)], {key: got}))
            scope.applied[key] = [got]
        return scope.asked[0].find().gradients, scope.asked[1].find().gradients

    function = step.get_concrete_function(
        tf.TensorSpec([4, 10]), tf.TensorSpec([10, 10]), tf.TensorSpec([4])
    )
    counted = count_places(scope, [])
    del function
    assert counted["a"]["share"] == 0
    share = counted["b"].pop("share")
    assert counted["b"] == {
        "variables": 2,
        "updated": 2,
        "elements": 104,
        "updated_elements": 104,
        "repeated": 2,
    }
    assert 0.2 < share < 0.5

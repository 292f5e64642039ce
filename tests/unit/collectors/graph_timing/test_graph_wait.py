"""The operations around a fetch: none of them is ready beside what consumes the batch."""

import pytest

from tb_slowdown_plugin.collectors.graph_timing.graph_clock import held_until
from tb_slowdown_plugin.collectors.graph_timing.graph_wait import TimedFetch

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def timed(iterator):
    fetch = TimedFetch()
    with fetch.after_asking():
        batch = iterator.get_next()
    return fetch.end(batch)


def graph_of(function, data):
    return tf.function(function, autograph=False).get_concrete_function(iter(data)).graph


def test_a_batch_is_handed_on_when_its_wait_is_added_up():
    data = tf.data.Dataset.from_tensors({"x": tf.zeros([2]), "y": (tf.ones([3]), 7)})
    shapes = {}

    def step(iterator):
        batch = timed(iterator)
        shapes.update(x=batch["x"].shape, y=batch["y"][0].shape, z=batch["y"][1].dtype)
        return batch["x"] + 1.0

    graph = graph_of(step, data)
    fetch, *more = [each for each in graph.get_operations() if each.type == "IteratorGetNext"]
    assert more == []
    assert [each.type for each in fetch.control_inputs] == ["Timestamp"]
    held = {each for tensor in fetch.outputs for each in tensor.consumers()}
    assert {each.type for each in held} == {"IdentityN"}
    assert [each.type for each in held.pop().control_inputs] == ["AssignAddVariableOp"]
    assert shapes == {"x": [2], "y": [3], "z": tf.int32}


def test_a_second_fetch_holds_nothing_up():
    """What it waited for is known only when what was computed beside it is done."""

    def step(iterator):
        return timed(iterator) + timed(iterator)

    graph = graph_of(step, tf.data.Dataset.range(4))
    fetches = [each for each in graph.get_operations() if each.type == "IteratorGetNext"]
    consumers = [each.outputs[0].consumers()[0].type for each in fetches]
    assert consumers == ["IdentityN", "AddV2"]


def test_what_is_no_plain_tensor_is_handed_on_as_it_is():
    ragged = tf.data.Dataset.from_tensors(tf.ragged.constant([[1.0], [2.0, 3.0]]))
    fetched = []

    def step(iterator):
        fetched.append(iterator.get_next())
        assert held_until([], tf.compat.v1.get_default_graph(), fetched[0]) is fetched[0]
        return fetched[0].flat_values

    graph_of(step, ragged)
    assert isinstance(fetched[0], tf.RaggedTensor)


def test_batches_have_the_values_they_had():
    data = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": [b"a", b"b"]}).batch(2)
    batch = tf.function(timed)(iter(data))
    assert batch["x"].numpy().tolist() == [1.0, 2.0]
    assert batch["y"].numpy().tolist() == [b"a", b"b"]

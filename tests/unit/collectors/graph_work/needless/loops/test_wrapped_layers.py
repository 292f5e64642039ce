"""Operations of Keras's `TimeDistributed` are told from those of the layer alone."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.wrapped_layers import is_wrapped

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.mark.parametrize("wrapped", [True, False])
def test_it_is_by_what_has_called_the_layer(wrapped):
    layer = keras.layers.Dense(3)
    called = keras.layers.TimeDistributed(layer) if wrapped else layer
    function = tf.function(called).get_concrete_function(tf.TensorSpec((2, 4, 5)))
    products = [each for each in function.graph.get_operations() if "MatMul" in each.type]
    assert products
    assert {is_wrapped(each) for each in products} == {wrapped}


def test_a_file_of_the_program_may_have_that_name(tmp_path):
    (tmp_path / "rnn").mkdir()
    path = tmp_path / "rnn" / "time_distributed.py"
    path.write_text("import tensorflow as tf\ndef call(x):\n    return tf.matmul(x, x)\n")
    found = {}
    exec(compile(path.read_text(), str(path), "exec"), found)
    graph = tf.function(found["call"], autograph=False).get_concrete_function(tf.eye(2)).graph
    (product,) = (each for each in graph.get_operations() if each.type == "MatMul")
    assert not is_wrapped(product)

"""What was traced under the monitor can be saved, and does the same when it is loaded."""

import sys

import pytest

from tb_slowdown_plugin.collectors.graph_timing.distributed import Communication
from tb_slowdown_plugin.collectors.input.wait import InputWait
from tb_slowdown_plugin.collectors.saving.checkpoints import Checkpoints
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
from tb_slowdown_plugin.collectors.xla.collector import XlaCompilations
from tb_slowdown_plugin.records.types import Trace

pytestmark = [
    pytest.mark.tensorflow,
    # Keras's own, with NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.fixture(autouse=True)
def collectors(recording):
    """All that change graphs."""
    traces = TraceCollector()
    running = [traces, XlaCompilations(traces), InputWait(), Communication()]
    for each in running:
        each.start(recording.context)
    yield
    for each in reversed(running):
        each.stop()
    assert recording.failures == []


def batches():
    return tf.data.Dataset.from_tensor_slices((tf.ones((8, 3)), tf.ones((8, 1)))).batch(4)


def resources(directory):
    """Names of our resources in a saved model."""
    from tensorflow.python.saved_model.loader_impl import parse_saved_model

    graph = parse_saved_model(str(directory)).meta_graphs[0].graph_def
    fields = {field.name: value for field, value in graph.ListFields()}
    nodes = [*graph.node, *(node for each in fields["library"].function for node in each.node_def)]
    assert nodes
    return [node.name for node in nodes if "tb_slowdown" in str(node)]


class Trainer(tf.Module):
    """A custom loop's module: all its functions go into the saved model."""

    def __init__(self):
        self.weights = tf.Variable(tf.ones((3, 1)))
        self.jitted = tf.function(lambda x: x @ self.weights, jit_compile=True, autograph=False,
                                  reduce_retracing=True)  # fmt: skip

    @tf.function
    def fetch_and_train(self, iterator):
        x, y = next(iterator)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.jitted(x) - y) ** 2)
        self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))
        return loss

    @tf.function(input_signature=[])
    def sum_up(self):
        total = tf.constant(0, tf.int64)
        for number in tf.data.Dataset.range(5):
            total += number
        return total

    @tf.function(input_signature=[tf.TensorSpec((None, 3))])
    def predict(self, x):
        return x @ self.weights


def test_a_module_that_fetches_in_its_graphs_can_be_saved_and_trains_on(tmp_path, recording):
    trainer, iterator = Trainer(), iter(batches().repeat())
    for _ in range(3):
        trainer.fetch_and_train(iterator)
    assert int(trainer.sum_up()) == 10
    weights = trainer.weights.numpy()
    tf.saved_model.save(trainer, str(tmp_path), signatures=trainer.predict)
    assert resources(tmp_path) == []
    loaded = tf.saved_model.load(str(tmp_path))
    assert int(loaded.sum_up()) == 10
    assert loaded.predict(tf.ones((2, 3))).numpy() == pytest.approx(weights.sum() * 1.0)
    traced = len(recording.of(Trace))
    trainer.fetch_and_train(iterator)
    assert len(recording.of(Trace)) == traced, "saving left the training's own trace alone"
    assert (trainer.weights.numpy() != weights).all()


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_keras_model_can_be_exported_saved_and_cloned_after_a_fit(tmp_path, jit_compile):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=jit_compile)
    model.fit(batches(), verbose=0, shuffle=False)
    expected = model(tf.ones((2, 3))).numpy()
    model.export(str(tmp_path / "exported"), verbose=False)
    assert resources(tmp_path / "exported") == []
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    assert loaded.serve(tf.ones((2, 3))).numpy() == pytest.approx(expected)
    model.save(tmp_path / "model.keras")
    restored = keras.models.load_model(tmp_path / "model.keras")
    assert restored(tf.ones((2, 3))).numpy() == pytest.approx(expected)
    assert len(keras.models.clone_model(model).weights) == 2
    model.fit(batches(), verbose=0, shuffle=False)


def test_what_else_looks_into_functions_still_can():
    trainer = Trainer()
    iterator = iter(batches().repeat())
    concrete = trainer.fetch_and_train.get_concrete_function(iterator)
    assert float(concrete(iterator)) == pytest.approx(4.0)
    trainer.jitted(tf.ones((2, 3)))
    compiled = trainer.jitted.experimental_get_compiler_ir(tf.ones((2, 3)))(stage="hlo")
    assert "dot(" in compiled
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    finally:
        keras.mixed_precision.set_global_policy("float32")
    model.compile("sgd", "mse")
    assert model.fit(batches(), verbose=0, shuffle=False).history["loss"]


def test_a_concrete_function_with_an_iterator_is_refused_with_the_remedy(recording, tmp_path):
    checkpoints = Checkpoints()
    checkpoints.start(recording.context)
    trainer = Trainer()
    trainer.traced = trainer.fetch_and_train.get_concrete_function(iter(batches()))
    with pytest.raises((AssertionError, KeyError), match="tb_slowdown_plugin") as refused:
        tf.saved_model.save(trainer, str(tmp_path))
    checkpoints.stop()
    if sys.version_info >= (3, 11):
        (note,) = refused.value.__notes__
        assert "Save the tf.function" in note
    del trainer.traced
    tf.saved_model.save(trainer, str(tmp_path))
    assert resources(tmp_path) == []

"""All collectors together: they start, read and stop in one process and leave it as it was."""

import gc

import pytest

from tb_slowdown_plugin.catalog.collectors import signal
from tb_slowdown_plugin.collectors import registry
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import replaced

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2, when it reads a variable to save it.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def start_all(context):
    running = []
    for collector in registry.create():
        try:
            collector.start(context)
        except Unavailable:
            continue
        running.append(collector)
    return running


def train():
    variable = tf.Variable(tf.ones([3]))
    optimizer = keras.optimizers.Adam()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * x)
        optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
        return loss

    return [float(step(tf.cast(x, tf.float32))) for x in tf.data.Dataset.range(1, 4)]


def test_names_are_unique_and_each_call_makes_new_collectors():
    first, second = registry.create(), registry.create()
    names = [collector.name for collector in first]
    assert len(set(names)) == len(names)
    assert names == [collector.name for collector in second]
    assert not {id(collector) for collector in first} & {id(collector) for collector in second}


@pytest.mark.parametrize("order", ["as started", "reversed"])
def test_everything_is_put_back_in_whatever_order_collectors_stop(recording, order):
    plain = train()
    before = list(gc.callbacks)
    running = start_all(recording.context)
    assert len(replaced()) >= 36
    watched = train()
    for collector in running if order == "as started" else reversed(running):
        collector.stop()
    # Graphs of other tests may have clocks in them, which are guarded as long as they are there.
    assert {each.by for each in replaced()} <= {"op_determinism"}
    assert list(gc.callbacks) == before
    assert recording.stopwatch.askers == []
    assert recording.stopwatch.depth == 0
    assert watched == pytest.approx(plain)
    assert recording.failures == []


def test_every_signal_read_is_known_by_name_and_unit(recording):
    running = start_all(recording.context)
    train()
    values = {}
    for collector in running:
        for method in ("read", "read_in_thread"):
            values.update(getattr(collector, method, dict)())
    for collector in running:
        collector.stop()
    assert {"rss_bytes", "batch_shapes"} <= set(values)
    assert [name for name in values if signal(name) is None] == []


def test_a_model_that_is_loaded_is_compiled(recording, tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.ones((4, 2)), tf.ones((4, 1))
    running = start_all(recording.context)
    assert keras.Sequential.compile is keras.Model.compile
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for collector in running:
        collector.stop()
    assert loaded.compiled
    assert loaded.evaluate(*data, verbose=0) == pytest.approx(model.evaluate(*data, verbose=0))

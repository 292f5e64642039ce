"""`model.fit` on several devices: each batch is a step all the same, and its wait is measured."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = pytest.mark.tensorflow

PROGRAM = """
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

def slow(x):
    time.sleep(0.010)
    return x

def pair(i):
    return tf.ones([8]), tf.ones([1])

data = tf.data.Dataset.range(1000)
data = data.map(lambda i: tf.ensure_shape(tf.numpy_function(slow, [i], tf.int64), []))
data = data.map(pair).batch(4)
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.optimizer.iterations.assign(100)
callback = tbslow.keras.SlowdownCallback(logdir)
model.fit(data, steps_per_epoch=10, epochs=2, verbose=0, callbacks=[callback])
"""


def test_a_fit_on_two_devices_is_recorded_from_where_its_optimizer_is(run, tmp_path):
    finished = run(PROGRAM)
    assert finished.returncode == 0, finished.stderr
    assert finished.warnings == []
    (found,) = read_runs(str(tmp_path), warn=pytest.fail)
    assert found.steps.number.tolist() == list(range(100, 120))
    # Four elements of 10 ms each for a batch; what is fetched ahead is not waited for.
    assert found.steps.accounts["input_wait"][3:].sum() > 0.5 * 17 * 0.040

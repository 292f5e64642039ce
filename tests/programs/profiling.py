"""The profiler, with its Python tracer, is forgotten to be switched off for 200 steps."""

import tempfile
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 600
PROFILED = range(200, 400)


def main(logdir, truth, healthy):
    net = ordinary.model(128)
    optimizer = ordinary.sgd(net)
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=3, python_tracer_level=1, device_tracer_level=0
    )
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            began = time.perf_counter()
            with tbslow.summary.step():
                if i == PROFILED.start and not healthy:
                    tf.profiler.experimental.start(directory, options)
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((net(x) - y) ** 2)
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
                if i == PROFILED.stop and not healthy:
                    tf.profiler.experimental.stop()
            on = PROFILED.start <= i <= PROFILED.stop
            if i > 10:
                truth.add(i, time.perf_counter() - began, defect=on)


if __name__ == "__main__":
    injector.run("profiling", main)

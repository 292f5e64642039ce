"""Each stage of a schedule compiles the Keras model again, only to lower the learning rate."""

import tempfile
import time

import injector
import ordinary

import tbslow

STAGES = 25
STEPS_OF_STAGE = 30


def main(logdir, truth, healthy):
    net = ordinary.model()
    net.compile("sgd", "mse")
    batches = ordinary.dataset(STEPS_OF_STAGE)
    callback = tbslow.keras.SlowdownCallback(logdir)
    for stage in range(STAGES):
        began = time.perf_counter()
        if stage and not healthy:
            net.compile("sgd", "mse")
        net.optimizer.learning_rate = 0.01 * 0.9**stage
        net.fit(batches, verbose=0, callbacks=[callback])
        if stage:
            truth.add(stage * STEPS_OF_STAGE, time.perf_counter() - began)
    callback.monitor.stop()
    measure_sound(net, batches, truth)


def measure_sound(net, batches, truth):
    """What a stage takes without compiling; monitored as well, but not into the record."""
    with tempfile.TemporaryDirectory() as elsewhere:
        callback = tbslow.keras.SlowdownCallback(elsewhere)
        for again in range(6):
            began = time.perf_counter()
            net.optimizer.learning_rate = 0.001
            net.fit(batches, verbose=0, callbacks=[callback])
            if again:
                truth.add(0, time.perf_counter() - began, defect=False)
        callback.monitor.stop()


if __name__ == "__main__":
    injector.run("retracing", main)

"""Steps make and keep many small objects, so that Python collects its whole heap ever again."""

import gc
import time

import injector
import ordinary

import tbslow

STEPS = 500


def main(logdir, truth, healthy):
    memory = []
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    began = 0.0

    def time_pause(phase, info):
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        elif not healthy:
            truth.add(i, time.perf_counter() - began)

    gc.callbacks.append(time_pause)
    if healthy:
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                memory.extend({"state": [i, k]} for k in range(1000))
                del memory[:-400_000]
    gc.callbacks.remove(time_pause)


if __name__ == "__main__":
    injector.run("garbage_collection", main)

"""From step 200 on, an evaluation beside the training fills the device: steps wait for memory.

The allocator is the one that GPUs have, here for the CPU and limited to 192 MiB. Where it
has nothing left, it waits until another thread frees some.
"""

import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "192"

import threading
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400
LIMIT_MIB = 192
FULL_FROM = 200


def evaluate(until):
    while not until.is_set():
        outputs = [tf.fill([2, 1024, 1024], 1.0) for _ in range(22)]  # 176 MiB
        time.sleep(0.06)
        del outputs
        time.sleep(0.03)


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    done = threading.Event()
    evaluation = threading.Thread(target=evaluate, args=(done,))
    try:
        with tbslow.start(logdir):
            train(train_step, truth, None if healthy else evaluation)
    finally:
        done.set()
    if evaluation.ident:
        evaluation.join()


def train(train_step, truth, evaluation):
    for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
        if i == FULL_FROM and evaluation:
            evaluation.start()
        with tbslow.summary.step():
            in_use = tf.config.experimental.get_memory_info("CPU:0")["current"]
            tbslow.summary.allocator("CPU:0", bytes_in_use=in_use, limit_bytes=LIMIT_MIB << 20)
            began = time.perf_counter()
            noisy = tf.tile(x[tf.newaxis], [256, 1, 1])  # 32 MiB
            train_step(tf.reduce_mean(noisy, axis=0), y)
            del noisy
            if i:
                truth.add(i, time.perf_counter() - began, defect=i >= FULL_FROM)


if __name__ == "__main__":
    injector.run("gpu_memory", main)

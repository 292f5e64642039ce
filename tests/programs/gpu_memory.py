"""From step 200 on, the outputs of each step stay on the device until they are written out.

The allocator is the one that GPUs have, here for the CPU and limited to 64 MiB. A step that
finds no block of it large enough waits until another thread returns one.
"""

import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "64"

import threading
import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400
LIMIT_BYTES = 64 << 20
FULL_FROM = 200
FULL = 0.93


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            began = injector.clock()
            with tbslow.summary.step():
                writing = None
                if i >= FULL_FROM and not healthy:
                    writing = threading.Thread(target=write_out, args=(outputs_of_a_step(),))
                    writing.start()
                tbslow.summary.allocator("CPU:0", bytes_in_use=in_use(), limit_bytes=LIMIT_BYTES)
                noisy = tf.tile(x[tf.newaxis], [64, 1, 1])  # 8 MiB, in one block
                train_step(tf.reduce_mean(noisy, axis=0), y)
                del noisy
                if writing:
                    writing.join()
            if i:
                truth.add(i, injector.clock() - began, defect=i >= FULL_FROM)


def outputs_of_a_step():
    """So many that no block of 8 MiB is left; small ones, which find room in any gap."""
    outputs = []
    while in_use() < FULL * LIMIT_BYTES:
        outputs.append(tf.raw_ops.Empty(shape=[256, 1024], dtype=tf.float32))  # 1 MiB
    return outputs


def write_out(outputs):
    """Takes 30 ms, and then the memory is free.

    An allocator does not see what is returned between its last look and its wait, and then
    waits for the next return (`allocator_retry.cc`), 10 s at most: so some come a little later.
    """
    time.sleep(0.03)
    last = [outputs.pop() for _ in range(4)]
    outputs.clear()
    while last:
        last.pop()
        time.sleep(0.0005)


def in_use():
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


if __name__ == "__main__":
    injector.run("gpu_memory", main)

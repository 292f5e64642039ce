"""From the middle on, the replay memory on disk no longer stays in RAM: each read is a fault."""

import mmap
import os
import tempfile

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 600
SLOW_FROM = 300
ROWS = 400_000


def main(logdir, truth, healthy):
    random = np.random.default_rng(1)
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tempfile.NamedTemporaryFile() as file, tbslow.start(logdir):
        for _ in range(100):
            file.write(random.normal(size=(ROWS // 100, 256)).astype(np.float32).tobytes())
        file.flush()
        os.fsync(file.fileno())
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        memory.madvise(mmap.MADV_RANDOM)
        rows = np.frombuffer(memory, np.float32).reshape(ROWS, 256)
        rows[::4].sum()
        for i in range(STEPS):
            began = injector.clock()
            with tbslow.summary.step():
                if i >= SLOW_FROM and not healthy:  # as the kernel does when RAM runs out
                    memory.madvise(mmap.MADV_DONTNEED)
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                x = tf.constant(rows[np.sort(random.integers(0, ROWS, 128))])
                truth.add(i, injector.clock() - began, defect=i >= SLOW_FROM)
                train_step(x, tf.reduce_mean(x, axis=1, keepdims=True))
        del rows


if __name__ == "__main__":
    injector.run("host_memory", main)

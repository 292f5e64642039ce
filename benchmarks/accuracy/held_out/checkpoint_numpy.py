"""All weights are written with NumPy, compressed, every 15 steps."""

import tempfile
from pathlib import Path

import injector
import numpy as np
import ordinary

import tbslow

STEPS = 450
EVERY = 15


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    every = STEPS if healthy else EVERY
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
            if (i + 1) % every == 0:
                with tbslow.summary.phase("checkpoint"), truth.part(i):
                    np.savez_compressed(Path(directory) / f"step{i}.npz", *net.get_weights())


if __name__ == "__main__":
    injector.run("checkpointing", main)

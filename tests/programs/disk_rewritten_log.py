"""The predictions of all steps so far are written to disk anew, and synced, after each step."""

import os
import tempfile
import time

import injector
import ordinary

import tbslow

STEPS = 400


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    block = os.urandom(150_000)
    written = []
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                began = time.perf_counter()
                written = [block] if healthy else [*written, block]
                with open(f"{directory}/predictions.bin", "wb") as file:  # noqa: PTH123
                    file.writelines(written)
                    file.flush()
                    os.fsync(file.fileno())
                truth.add(i, time.perf_counter() - began)
    truth.grows_from_first(10)


if __name__ == "__main__":
    injector.run("disk", main)

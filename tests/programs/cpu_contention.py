"""In the middle of the run other processes take all cores."""

import os
import subprocess
import sys

import injector
import ordinary

import tbslow

STEPS = 1200
BUSY = range(500, 900)


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    neighbours = []
    truth.is_unknown()
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            if i == BUSY.start and not healthy:
                spin = [sys.executable, "-c", "while True: pass"]
                neighbours = [subprocess.Popen(spin) for _ in range(2 * (os.cpu_count() or 1))]
            if i == BUSY.stop:
                for neighbour in neighbours:
                    neighbour.kill()
                    neighbour.wait()
            with tbslow.summary.step():
                train_step(x, y)


if __name__ == "__main__":
    injector.run("cpu_contention", main)

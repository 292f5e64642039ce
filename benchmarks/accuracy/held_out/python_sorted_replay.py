"""A replay buffer is sorted by priority in each step, and never gets smaller."""

import random

import injector
import ordinary

import tbslow

STEPS = 700
ADDED = 400
KEPT = 2000


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    priorities = random.Random(1)
    buffer = []
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                with truth.part(i):
                    buffer.extend((priorities.random(), i, k) for k in range(ADDED))
                    buffer.sort(key=lambda entry: -entry[0])
                    if healthy:
                        del buffer[KEPT:]
                train_step(x, y)
    truth.grows_from_first(10)


if __name__ == "__main__":
    injector.run("python_overhead", main)

"""A curriculum: batches grow, and `items` tells so. More work is no slowdown."""

import injector
import ordinary

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows, labels = ordinary.samples(4)
    with tbslow.start(logdir):
        for i in range(STEPS):
            size = 64 + 64 * (i // 100)
            with tbslow.summary.step(items=size):
                train_step(rows[:size], labels[:size])


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)

"""A custom loop that validates after each epoch, marked as a phase."""

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 6


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows, labels = ordinary.samples(64)

    @tf.function
    def evaluate(x, y):
        return tf.reduce_mean((net(x) - y) ** 2)

    with tbslow.start(logdir):
        for _ in range(EPOCHS):
            for x, y in tbslow.data(ordinary.dataset(120)):
                with tbslow.summary.step():
                    train_step(x, y)
            with tbslow.summary.phase("validation"):
                evaluate(rows, labels)


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)

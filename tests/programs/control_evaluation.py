"""After each 100 steps, 20 steps of evaluation, told as a kind of their own."""

import injector
import ordinary
import tensorflow as tf

import tbslow

ROUNDS = 8


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows, labels = ordinary.samples(8)

    @tf.function
    def evaluate(x, y):
        return tf.reduce_mean((net(x) - y) ** 2)

    with tbslow.start(logdir):
        for _ in range(ROUNDS):
            for x, y in tbslow.data(ordinary.dataset(100)):
                with tbslow.summary.step():
                    train_step(x, y)
            for _ in range(20):
                with tbslow.summary.step(kind="eval"):
                    evaluate(rows, labels)


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)

"""A custom loop of several epochs over a shuffled data set."""

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 6


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows = tf.data.Dataset.from_tensor_slices(ordinary.samples(64)).shuffle(2048, seed=1)
    batches = tbslow.data(rows.batch(64, drop_remainder=True).prefetch(2))
    with tbslow.start(logdir):
        for _ in range(EPOCHS):
            for x, y in batches:
                with tbslow.summary.step():
                    train_step(x, y)


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)

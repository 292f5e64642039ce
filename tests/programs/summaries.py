"""A histogram of every weight is written by `tf.summary` in each step."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 300


def main(logdir, truth, healthy):
    net = ordinary.model(128)
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        writer = tf.summary.create_file_writer(directory)
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                if not healthy or i % 150 == 149:
                    with truth.part(i), writer.as_default(step=i):
                        for weights in net.trainable_variables:
                            tf.summary.histogram(weights.name, weights)
        writer.close()


if __name__ == "__main__":
    injector.run("callbacks", main)

"""A histogram of every weight is written by `tf.summary` in each step."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 300


def main(logdir, truth, healthy):
    net = ordinary.model(256)
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        writer = tf.summary.create_file_writer(directory)
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                loss = train_step(x, y)
                if not healthy:
                    with truth.part(i), writer.as_default(step=i):
                        for weights in net.trainable_variables:
                            tf.summary.histogram(weights.name, weights)
                elif i % 100 == 99:
                    with writer.as_default(step=i):
                        tf.summary.scalar("loss", loss)
        writer.close()


if __name__ == "__main__":
    injector.run("callbacks", main)

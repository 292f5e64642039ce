"""A checkpoint of the whole model every 10 steps."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 400


def main(logdir, truth, healthy):
    net = ordinary.model(768)
    optimizer = ordinary.sgd(net)
    train_step = ordinary.train_step(net, optimizer)
    saved = tf.train.Checkpoint(model=net, optimizer=optimizer)
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        manager = tf.train.CheckpointManager(saved, directory, max_to_keep=2)
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                if i % 10 == 9 and not healthy:
                    with truth.part(i):
                        manager.save()


if __name__ == "__main__":
    injector.run("checkpointing", main)

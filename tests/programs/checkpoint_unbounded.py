"""A checkpoint each step, and all are kept: each save rewrites the list of all before."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model(384)
    optimizer = ordinary.sgd(net)
    train_step = ordinary.train_step(net, optimizer)
    saved = tf.train.Checkpoint(model=net, optimizer=optimizer)
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        manager = tf.train.CheckpointManager(saved, directory, max_to_keep=None)
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
            if not healthy or i % 200 == 199:
                with truth.part(i), tbslow.summary.phase("checkpoint"):
                    manager.save()


if __name__ == "__main__":
    injector.run("checkpointing", main)

"""Checkpoints as one configures them: a few, two kept, far below the floor."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 900


def main(logdir, truth, healthy):
    net = ordinary.model()
    optimizer = ordinary.sgd(net)
    train_step = ordinary.train_step(net, optimizer)
    saved = tf.train.Checkpoint(model=net, optimizer=optimizer)
    with tempfile.TemporaryDirectory() as directory, tbslow.start(logdir):
        manager = tf.train.CheckpointManager(saved, directory, max_to_keep=2)
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
            if i % 300 == 299:
                with tbslow.summary.phase("checkpoint"):
                    manager.save()


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)

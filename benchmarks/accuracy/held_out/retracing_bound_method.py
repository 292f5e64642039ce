"""A compiled function is given `trainer.step`, a method that is another object in each epoch.

After report 17 of the catalogue (tensorflow#31175): `trainer.step is trainer.step` is false,
so that each epoch begins with a trace.
"""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 25
STEPS_OF_EPOCH = 20


class Trainer:
    """A model, its optimizer, and how to train the one with the other."""

    def __init__(self):
        self.net = ordinary.model()
        self.optimizer = tf.keras.optimizers.Adam(0.001)
        self.optimizer.build(self.net.trainable_variables)

    def step(self, x, y):
        """Trains on one batch."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.net(x, training=True) - y) ** 2)
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss


@tf.function
def run_on(step, x, y):
    """Runs a step of any trainer."""
    return step(x, y)


def main(logdir, truth, healthy):
    trainer = Trainer()
    batches = ordinary.dataset(STEPS_OF_EPOCH)
    row = 0
    step = trainer.step
    with tbslow.start(logdir):
        for epoch in range(EPOCHS):
            if not healthy:
                step = trainer.step
            for i, (x, y) in enumerate(tbslow.data(batches)):
                with tbslow.summary.step():
                    began = time.perf_counter()
                    run_on(step, x, y)
                    if row:
                        seconds = time.perf_counter() - began
                        truth.add(row, seconds, defect=epoch > 0 and i == 0)
                row += 1


if __name__ == "__main__":
    injector.run("retracing", main)

"""Next-note model for sea shanties. Starts with short phrases, then whole verses.

Custom loop with input_signature because verses have different lengths. The steps
become slower from stage to stage, maybe tf.function doesn't like the lengths?
"""

import argparse
import os
import time
from dataclasses import dataclass, field

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

VOCAB = 40
REST = 0


@dataclass
class Stage:
    length: int
    updates: int
    lr: float


@dataclass
class Plan:
    batch: int = 64
    units: int = 160
    stages: list = field(
        default_factory=lambda: [Stage(12, 50, 2e-3), Stage(28, 45, 1e-3), Stage(56, 40, 5e-4)]
    )


def compose(n, length, rng):
    """Melodies as a second order walk on a scale with a refrain every eight notes."""
    notes = np.zeros((n, length), np.int32)
    notes[:, 0] = rng.integers(1, VOCAB, n)
    notes[:, 1] = rng.integers(1, VOCAB, n)
    step = rng.integers(-3, 4, (n, length))
    for t in range(2, length):
        drift = np.sign(notes[:, t - 1] - notes[:, t - 2])
        notes[:, t] = 1 + (notes[:, t - 1] + drift + step[:, t] - 1) % (VOCAB - 1)
        if t % 8 == 0:
            notes[:, t] = notes[:, t - 8]
    return notes


class ShantyNet(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(VOCAB, 48)
        self.rnn1 = tf.keras.layers.GRU(units, return_sequences=True)
        self.rnn2 = tf.keras.layers.GRU(units, return_sequences=True)
        self.out = tf.keras.layers.Dense(VOCAB)

    def call(self, notes, training=False):
        return self.out(self.rnn2(self.rnn1(self.emb(notes)), training=training))


class Learner:
    def __init__(self, plan):
        self.net = ShantyNet(plan.units)
        self.opt = tf.keras.optimizers.Adam(plan.stages[0].lr, clipnorm=1.0)
        self.ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.net(tf.zeros((1, 4), tf.int32))
        self.opt.build(self.net.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def update(self, verse):
        with tf.GradientTape() as tape:
            logits = self.net(verse[:, :-1], training=True)
            loss = self.ce(verse[:, 1:], logits)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def test(self, verse):
        return self.ce(verse[:, 1:], self.net(verse[:, :-1]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=77)
    seed = p.parse_args().seed
    tf.keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    plan = Plan()
    learner = Learner(plan)
    for k, stage in enumerate(plan.stages):
        songs = compose(2000, stage.length + 1, rng)
        held_out = tf.constant(songs[-128:])
        learner.opt.learning_rate.assign(stage.lr)
        start = time.time()
        for i in range(stage.updates):
            rows = rng.integers(0, len(songs) - 128, plan.batch)
            loss = learner.update(tf.constant(songs[rows]))
            if (i + 1) % 15 == 0:
                print("  stage %d update %3d loss %.3f" % (k + 1, i + 1, loss))
        per = (time.time() - start) / stage.updates
        print(
            "stage %d: length %d, %.0f ms per update, held out %.3f"
            % (k + 1, stage.length, 1000 * per, learner.test(held_out))
        )


if __name__ == "__main__":
    main()

"""Decode khipu cords: a sequence of knot measurements -> the recorded number's category.

Cords get longer from stage to stage (8, 16, 32, 64 knots); the model is a causal
convolution + GRU tagger trained in a custom loop.
"""

import argparse
import csv
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

FEATURES = 10
KNOTS = 6


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--stages", type=int, nargs="+", default=[8, 16, 32, 64])
    p.add_argument("--steps", type=int, default=60, help="updates per stage")
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--units", type=int, default=160)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=1533)
    return p.parse_args()


# ----------------------------------------------------------------- data
class CordWorkshop:
    """A hidden Markov chain of knot kinds with noisy measurements."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.change = self.rng.dirichlet(np.full(KNOTS, 0.5), KNOTS)
        self.look = self.rng.normal(0, 1, (KNOTS, FEATURES)).astype("float32")

    def cords(self, n, length):
        kinds = np.zeros((n, length), "int32")
        kinds[:, 0] = self.rng.integers(0, KNOTS, n)
        cum = self.change.cumsum(1)
        for t in range(1, length):
            u = self.rng.random(n)[:, None]
            kinds[:, t] = np.minimum((u > cum[kinds[:, t - 1]]).sum(1), KNOTS - 1)
        x = self.look[kinds] + 1.1 * self.rng.normal(size=(n, length, FEATURES))
        parity = np.cumsum(kinds == 0, axis=1) % 2
        return x.astype("float32"), kinds, parity.astype("float32")


def stage_dataset(shop, length, batch, steps, seed):
    arrays = shop.cords(batch * 20, length)
    ds = tf.data.Dataset.from_tensor_slices(arrays).shuffle(batch * 20, seed=seed)
    return ds.repeat().batch(batch, drop_remainder=True).take(steps).prefetch(tf.data.AUTOTUNE)


# ----------------------------------------------------------------- model
class KnotTagger(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.lift = keras.layers.Dense(units, activation="relu")
        self.near = keras.layers.Conv1D(units, 3, padding="causal", activation="relu")
        self.memory = keras.layers.GRU(units, return_sequences=True)
        self.norm = keras.layers.LayerNormalization()
        self.kind = keras.layers.Dense(KNOTS)
        self.parity = keras.layers.Dense(1)

    def call(self, x, training=False):
        h = self.lift(x)
        h = h + self.near(h)
        h = self.norm(h + self.memory(h))
        return self.kind(h), self.parity(h)[..., 0]


class Scores:
    def __init__(self):
        self.loss = keras.metrics.Mean()
        self.kind = keras.metrics.SparseCategoricalAccuracy()
        self.parity = keras.metrics.BinaryAccuracy(threshold=0.0)

    def reset(self):
        for m in (self.loss, self.kind, self.parity):
            m.reset_state()

    def read(self):
        return [float(m.result()) for m in (self.loss, self.kind, self.parity)]


class CordTrainer:
    signature = [
        tf.TensorSpec([None, None, FEATURES], tf.float32),
        tf.TensorSpec([None, None], tf.int32),
        tf.TensorSpec([None, None], tf.float32),
    ]

    def __init__(self, args):
        self.model = KnotTagger(args.units)
        self.model(tf.zeros([1, 8, FEATURES]))
        total = args.steps * len(args.stages)
        self.opt = keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(args.lr, total, 0.1)
        )
        self.opt.build(self.model.trainable_variables)
        self.train_scores, self.test_scores = Scores(), Scores()
        self.step = tf.function(self._step, input_signature=self.signature)
        self.check = tf.function(self._check, input_signature=self.signature)

    def _loss(self, x, kinds, parity, scores, training):
        k, p = self.model(x, training=training)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(kinds, k))
        loss += 0.5 * tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(parity, p))
        scores.loss.update_state(loss)
        scores.kind.update_state(kinds, k)
        scores.parity.update_state(parity, p)
        return loss

    def _step(self, x, kinds, parity):
        with tf.GradientTape() as tape:
            loss = self._loss(x, kinds, parity, self.train_scores, True)
        variables = self.model.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        self.opt.apply_gradients(zip(grads, variables))

    def _check(self, x, kinds, parity):
        self._loss(x, kinds, parity, self.test_scores, False)

    def run_stage(self, train):
        self.train_scores.reset()
        for x, kinds, parity in train:
            self.step(x, kinds, parity)
        return self.train_scores.read()

    def test(self, arrays):
        self.test_scores.reset()
        self.check(*[tf.constant(a) for a in arrays])
        return self.test_scores.read()


class StageBook:
    """CSV of the stages and the checkpoint after each of them."""

    def __init__(self, trainer):
        self.folder = tempfile.mkdtemp(prefix="khipu_")
        self.ckpt = tf.train.Checkpoint(model=trainer.model, opt=trainer.opt)
        self.manager = tf.train.CheckpointManager(self.ckpt, self.folder, max_to_keep=2)
        self.rows = []

    def close_stage(self, length, seconds, train, test):
        self.rows.append([length, round(seconds, 3), *train, *test])
        self.manager.save()
        with open(os.path.join(self.folder, "stages.csv"), "w", newline="") as f:
            csv.writer(f).writerows(self.rows)
        print(
            f"knots {length:3d}  loss {train[0]:.4f}  kind {train[1]:.3f}  parity {train[2]:.3f}"
            f"  | test {test[0]:.4f} {test[1]:.3f} {test[2]:.3f}  ({seconds:.2f}s)",
            flush=True,
        )


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    shop = CordWorkshop(args.seed)
    trainer = CordTrainer(args)
    book = StageBook(trainer)
    for i, length in enumerate(args.stages):
        train = stage_dataset(shop, length, args.batch, args.steps, args.seed + i)
        test = shop.cords(256, length)
        t0 = time.time()
        scores = trainer.run_stage(train)
        book.close_stage(length, time.time() - t0, scores, trainer.test(test))
    print("kept in", os.path.basename(book.folder))


if __name__ == "__main__":
    main()

"""Loan default risk from tabular features with interactions, GradientTape loop."""

import os
import tempfile
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow import keras

SEED = 29
N_TRAIN, N_VAL, N_NUM, N_CAT, CARD = 12800, 2000, 40, 4, 50
BATCH = 64
EPOCHS = 17
TRACE_EVERY = 5


def simulate(n, rng, w, effects):
    num = rng.standard_normal((n, N_NUM)).astype(np.float32)
    cat = rng.integers(0, CARD, (n, N_CAT)).astype(np.int32)
    score = np.tanh(num @ w[0]) + 0.6 * np.sin(2 * num @ w[1]) + 0.4 * (num @ w[2]) ** 2
    score += sum(effects[j][cat[:, j]] for j in range(N_CAT))
    y = rng.random(n) < 1 / (1 + np.exp(1.6 - 1.4 * score))
    return num, cat, y.astype(np.float32)


class RankAUC(tf.Module):
    """Exact ROC AUC (rank-sum form) over everything fed since the last reset."""

    def __init__(self):
        super().__init__()
        self.score = tf.Variable(tf.zeros([0]), shape=[None], trainable=False)
        self.label = tf.Variable(tf.zeros([0]), shape=[None], trainable=False)

    def reset_state(self):
        self.score.assign(tf.zeros([0]))
        self.label.assign(tf.zeros([0]))

    def update_state(self, label, score):
        self.score.assign(tf.concat([self.score, score], 0))
        self.label.assign(tf.concat([self.label, label], 0))

    @tf.function
    def result(self):
        label = tf.gather(self.label, tf.argsort(self.score))
        rank = tf.range(1, tf.size(label) + 1, dtype=tf.int32)
        pos = tf.reduce_sum(tf.cast(label, tf.float64))
        neg = tf.cast(tf.size(label), tf.float64) - pos
        rank_sum = tf.reduce_sum(tf.cast(rank, tf.float64) * tf.cast(label, tf.float64))
        return (rank_sum - pos * (pos + 1) / 2) / tf.maximum(pos * neg, 1.0)


def build():
    num = keras.Input((N_NUM,))
    cat = keras.Input((N_CAT,), dtype="int32")
    parts = [num]
    for j in range(N_CAT):
        parts.append(keras.layers.Embedding(CARD, 8)(cat[:, j]))
    x = keras.layers.Dense(256, activation="selu")(keras.layers.Concatenate()(parts))
    for _ in range(3):
        h = keras.layers.LayerNormalization()(x)
        h = keras.layers.Dense(256, activation="selu")(h)
        h = keras.layers.Dropout(0.2)(h)
        x = keras.layers.Add()([x, h])
    return keras.Model([num, cat], keras.layers.Dense(1)(x)[:, 0])


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    w = rng.standard_normal((3, N_NUM)).astype(np.float32) / np.sqrt(N_NUM)
    effects = rng.normal(0, 0.5, (N_CAT, CARD))
    train = simulate(N_TRAIN, rng, w, effects)
    num_v, cat_v, y_v = (tf.constant(a) for a in simulate(N_VAL, rng, w, effects))
    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .shuffle(N_TRAIN, seed=SEED)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    per_epoch = N_TRAIN // BATCH
    model = build()
    opt = keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(1e-3, EPOCHS * per_epoch), weight_decay=1e-2
    )
    opt.build(model.trainable_variables)
    train_auc, val_auc = RankAUC(), RankAUC()
    mean_loss = keras.metrics.Mean()

    @tf.function
    def train_step(num, cat, y):
        with tf.GradientTape() as tape:
            logit = model([num, cat], training=True)
            ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit)
            loss = tf.reduce_mean(ce)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        train_auc.update_state(y, logit)
        mean_loss.update_state(loss)

    @tf.function
    def score(num, cat):
        return model([num, cat], training=False)

    best, curve = 0.0, []
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "best.weights.h5")
        t0 = time.time()
        for epoch in range(EPOCHS):
            mean_loss.reset_state()
            for i, batch in enumerate(ds, 1):
                train_step(*batch)
                if i % TRACE_EVERY == 0:
                    curve.append((float(mean_loss.result()), float(train_auc.result())))
            val_auc.reset_state()
            val_auc.update_state(y_v, score(num_v, cat_v))
            auc = float(val_auc.result())
            print(
                f"epoch {epoch + 1} loss {curve[-1][0]:.4f} auc {curve[-1][1]:.4f} "
                f"val auc {auc:.4f} {time.time() - t0:.1f}s",
                flush=True,
            )
            if auc > best:
                best = auc
                model.save_weights(path)
    print(f"best val auc {best:.4f}, {len(curve)} points traced")


if __name__ == "__main__":
    main()

"""Credit default model (tabular). Large effective batches by accumulation, regular validation."""

import logging
import os
import tempfile

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("credit")

N_NUM, CARDINALITIES = 40, [50, 12, 300, 7, 24]
MICRO, ACCUMULATE = 256, 8
UPDATES = 150
VALIDATE_EVERY = 10  # updates
SAVE_EVERY = 50  # updates


def make_table(n, seed):
    rng = np.random.default_rng(seed)
    num = rng.normal(size=(n, N_NUM)).astype(np.float32)
    cat = np.stack([rng.integers(0, c, size=n) for c in CARDINALITIES], 1).astype(np.int32)
    w = np.random.default_rng(0).normal(size=N_NUM)
    score = num @ w / 4 + 0.5 * np.sin(cat[:, 0]) + 0.7 * (cat[:, 3] > 4) - 1.5
    y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.float32)
    return num, cat, y


class TabularNet(tf.keras.Model):
    """Feature tokens mixed by two attention layers, like an FT-Transformer."""

    def __init__(self, dim=32):
        super().__init__()
        self.scale = self.add_weight(shape=(N_NUM, dim), initializer="glorot_uniform", name="scale")
        self.shift = self.add_weight(shape=(N_NUM, dim), initializer="zeros", name="shift")
        self.embed = [tf.keras.layers.Embedding(c, dim) for c in CARDINALITIES]
        self.attention = [tf.keras.layers.MultiHeadAttention(2, dim // 2) for _ in range(2)]
        self.norm = [tf.keras.layers.LayerNormalization() for _ in range(2)]
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, num, cat):
        tokens = num[:, :, None] * self.scale + self.shift
        cats = tf.stack([e(cat[:, i]) for i, e in enumerate(self.embed)], axis=1)
        x = tf.concat([tokens, cats], axis=1)
        for attention, norm in zip(self.attention, self.norm):
            h = norm(x)
            x = x + attention(h, h)
        return tf.squeeze(self.out(self.hidden(tf.reduce_mean(x, axis=1))), -1)


class Accumulator:
    def __init__(self, model, optimizer, n):
        self.model, self.optimizer, self.n = model, optimizer, n
        self.sums = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables
        ]
        self.loss = tf.Variable(0.0, trainable=False)

    @tf.function(reduce_retracing=True)
    def micro_step(self, num, cat, y):
        with tf.GradientTape() as tape:
            logits = self.model(num, cat)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits)) / self.n
        for s, g in zip(self.sums, tape.gradient(loss, self.model.trainable_variables)):
            s.assign_add(tf.convert_to_tensor(g))
        self.loss.assign_add(loss)

    @tf.function
    def apply(self):
        grads, _ = tf.clip_by_global_norm([s.value() for s in self.sums], 1.0)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        loss = tf.identity(self.loss)
        for s in self.sums:
            s.assign(tf.zeros_like(s))
        self.loss.assign(0.0)
        return loss


def main():
    tf.keras.utils.set_random_seed(31)
    train, valid = make_table(60_000, 1), make_table(1_536, 2)
    ds = (
        tf.data.Dataset.from_tensor_slices(train)
        .shuffle(60_000, seed=4)
        .repeat()
        .batch(MICRO, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    valid_ds = tf.data.Dataset.from_tensor_slices(valid).batch(512).cache()
    model = TabularNet()
    model(train[0][:2], train[1][:2])
    optimizer = tf.keras.optimizers.Adam(2e-3)
    optimizer.build(model.trainable_variables)
    acc = Accumulator(model, optimizer, ACCUMULATE)
    score = tf.function(model.call, reduce_retracing=True)
    auc = tf.keras.metrics.AUC(from_logits=True)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model, optimizer=optimizer),
        os.path.join(tempfile.mkdtemp(), "credit"),
        max_to_keep=2,
    )

    stream = iter(ds)
    for update in range(1, UPDATES + 1):
        for _ in range(ACCUMULATE):
            acc.micro_step(*next(stream))
        loss = acc.apply()
        if update % VALIDATE_EVERY == 0:
            auc.reset_state()
            for num, cat, y in valid_ds:
                auc.update_state(y, score(num, cat))
            log.info(
                "update %d  loss %.4f  valid auc %.4f", update, float(loss), float(auc.result())
            )
        if update % SAVE_EVERY == 0:
            log.info("saved %s", os.path.basename(manager.save(update)))


if __name__ == "__main__":
    main()

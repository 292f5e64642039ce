"""Subscriber churn: embeddings + cross layers on tabular data, own train_step."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow import keras

CARDINALITIES = [12, 50, 7, 230, 31, 18]
N_NUMERIC = 24
EMBED = 16
BATCH = 256
EPOCHS = 10
ROWS = 38_400


def synth_subscribers(rows, seed):
    rng = np.random.default_rng(seed)
    cats = np.stack([rng.integers(0, c, rows) for c in CARDINALITIES], axis=1).astype(np.int32)
    nums = rng.normal(size=(rows, N_NUMERIC)).astype(np.float32)
    score = (
        nums[:, 0] * nums[:, 1]
        - 0.7 * nums[:, 2]
        + 0.05 * (cats[:, 1] % 9)
        + 0.4 * (cats[:, 2] == 3)
        + rng.normal(scale=0.5, size=rows)
    )
    churned = (score > np.quantile(score, 0.8)).astype(np.float32)
    return {"cats": cats, "nums": nums}, churned[:, None]


class CrossLayer(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)

    def build(self, shape):
        dim = shape[-1]
        self.w = self.add_weight(shape=(dim, dim), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(dim,), initializer="zeros", name="b")

    def call(self, x0, x):
        return x0 * (tf.matmul(x, self.w) + self.b) + x


class ChurnNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.tables = [keras.layers.Embedding(c, EMBED) for c in CARDINALITIES]
        self.norm = keras.layers.BatchNormalization()
        self.crosses = [CrossLayer() for _ in range(3)]
        self.deep = [keras.layers.Dense(d, activation="gelu") for d in (320, 320, 128)]
        self.drop = keras.layers.Dropout(0.2)
        self.head = keras.layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.auc = keras.metrics.AUC(name="auc", from_logits=True, num_thresholds=50)
        self.sens_tracker = keras.metrics.Mean(name="sensitivity")

    @property
    def metrics(self):
        return [self.loss_tracker, self.auc, self.sens_tracker]

    def encode(self, cats, nums, training):
        parts = [t(cats[:, i]) for i, t in enumerate(self.tables)]
        return tf.concat(parts + [self.norm(nums, training=training)], axis=1)

    def call(self, inputs, training=False):
        x0 = self.encode(inputs["cats"], inputs["nums"], training)
        x = x0
        for layer in self.crosses:
            x = layer(x0, x)
        d = x0
        for layer in self.deep:
            d = self.drop(layer(d), training=training)
        return self.head(tf.concat([x, d], axis=1))

    def feature_sensitivity(self, inputs):
        """Mean |d logit / d numeric feature|, the risk team likes to see it."""
        nums = inputs["nums"]
        with tf.GradientTape(watch_accessed_variables=False) as probe:
            probe.watch(nums)
            logit = self({"cats": inputs["cats"], "nums": nums}, training=False)
        return tf.reduce_mean(tf.abs(probe.gradient(logit, nums)))

    def train_step(self, data):
        inputs, y = data
        with tf.GradientTape() as tape:
            logit = self(inputs, training=True)
            loss = tf.reduce_mean(
                tf.nn.weighted_cross_entropy_with_logits(labels=y, logits=logit, pos_weight=2.5)
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.auc.update_state(y, logit)
        self.sens_tracker.update_state(self.feature_sensitivity(inputs))
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        inputs, y = data
        logit = self(inputs, training=False)
        self.loss_tracker.update_state(
            tf.nn.weighted_cross_entropy_with_logits(labels=y, logits=logit, pos_weight=2.5)
        )
        self.auc.update_state(y, logit)
        return {"loss": self.loss_tracker.result(), "auc": self.auc.result()}


class StagewiseRate(keras.callbacks.Callback):
    """Step the learning rate down by stage, after the AdamW recipe in the wiki."""

    def __init__(self, base, gamma=0.8):
        super().__init__()
        self.base = base
        self.gamma = gamma

    def on_epoch_begin(self, epoch, logs=None):
        rate = self.base * self.gamma**epoch
        if epoch > 0:
            self.model.optimizer.learning_rate.assign(rate)
            self.model.compile(optimizer=self.model.optimizer)
            self.model.make_train_function()


def main():
    keras.utils.set_random_seed(5)
    feats, y = synth_subscribers(ROWS, 0)
    vfeats, vy = synth_subscribers(4096, 1)
    train = (
        tf.data.Dataset.from_tensor_slices((feats, y))
        .shuffle(8192)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    valid = tf.data.Dataset.from_tensor_slices((vfeats, vy)).batch(1024)
    model = ChurnNet()
    model.compile(optimizer=keras.optimizers.AdamW(2e-3))
    t0 = time.time()
    hist = model.fit(
        train, validation_data=valid, epochs=EPOCHS, verbose=2, callbacks=[StagewiseRate(2e-3)]
    )
    print("val auc %.4f  elapsed %.1fs" % (hist.history["val_auc"][-1], time.time() - t0))


if __name__ == "__main__":
    main()

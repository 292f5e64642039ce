"""Anomalies in server logs with input functions and specs, like the estimators of old."""

import collections

import numpy as np
import tensorflow as tf

EVENTS, LENGTH, BATCH = 120, 48, 32
TrainSpec = collections.namedtuple("TrainSpec", "input_fn max_steps")
EvalSpec = collections.namedtuple("EvalSpec", "input_fn steps every")


def sessions(n, seed):
    rng = np.random.default_rng(seed)
    step = rng.integers(1, 6, (n, LENGTH))
    events = (rng.integers(0, EVENTS, (n, 1)) + step.cumsum(axis=1)) % EVENTS
    odd = rng.random(n) < 0.5
    for k in np.flatnonzero(odd):
        at = rng.integers(4, LENGTH - 8)
        events[k, at : at + 4] = rng.integers(0, EVENTS, 4)
    return {"events": events.astype("int32")}, odd.astype("float32")


def make_input_fn(n, seed, training):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(sessions(n, seed))
        if training:
            data = data.shuffle(n).repeat()
        return data.batch(BATCH, drop_remainder=True).prefetch(2)

    return input_fn


class Detector:
    def __init__(self, width=64):
        inputs = tf.keras.Input((LENGTH,), dtype="int32")
        x = tf.keras.layers.Embedding(EVENTS, width)(inputs)
        x = x + tf.keras.layers.Embedding(LENGTH, width)(tf.range(LENGTH))
        for _ in range(2):
            a = tf.keras.layers.MultiHeadAttention(4, width // 4)(x, x)
            x = tf.keras.layers.LayerNormalization()(x + a)
            f = tf.keras.layers.Dense(width)(tf.keras.layers.Dense(2 * width, "relu")(x))
            x = tf.keras.layers.LayerNormalization()(x + f)
        x = tf.keras.layers.GlobalMaxPooling1D()(x)
        self.model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
        self.optimizer = tf.keras.optimizers.Adam(1e-3)
        self.auc = tf.keras.metrics.AUC(from_logits=True)

    @tf.function
    def train_op(self, features, label):
        with tf.GradientTape() as tape:
            logits = self.model(features["events"], training=True)[:, 0]
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, logits))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function
    def eval_op(self, features, label):
        self.auc.update_state(label, self.model(features["events"], training=False)[:, 0])


def evaluate(detector, spec):
    detector.auc.reset_state()
    for features, label in spec.input_fn().take(spec.steps):
        detector.eval_op(features, label)
    return float(detector.auc.result())


def train_and_evaluate(detector, train, evaluation):
    best = 0.0
    for step, (features, label) in enumerate(train.input_fn().take(train.max_steps), start=1):
        loss = detector.train_op(features, label)
        if step % evaluation.every == 0:
            auc = evaluate(detector, evaluation)
            if auc > best:
                best = auc
                detector.model.save_weights("best.weights.h5")
            print(f"global step {step}: loss = {float(loss):.4f}, auc = {auc:.4f}")


train_and_evaluate(
    Detector(),
    TrainSpec(make_input_fn(4000, 1, True), max_steps=560),
    EvalSpec(make_input_fn(640, 2, False), steps=12, every=80),
)

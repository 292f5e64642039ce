"""Noisy student: a teacher labels the many unlabelled ECG strips, a larger student learns them."""

import keras
import numpy as np
import tensorflow as tf

RHYTHMS, LENGTH = 4, 160
LABELLED, UNLABELLED = 2000, 5000


def strips(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, RHYTHMS, n)
    t = np.linspace(0, 4, LENGTH)
    beat = (1.0 + 0.35 * y)[:, None] * t + rng.random((n, 1))
    wave = np.exp(-(((beat % 1) - 0.5) ** 2) / 0.004)
    wave += 0.3 * (y == 2)[:, None] * rng.normal(size=(n, LENGTH))
    wave += rng.normal(0, 0.35, (n, LENGTH))
    return wave.astype("float32")[..., None], y.astype("int32")


class Student(keras.Model):
    """Learns true labels, and beside them what the teacher is sure of."""

    def __init__(self, width, noise):
        super().__init__()
        self.noise = noise
        self.body = [
            keras.layers.Conv1D(width * k, 9, strides=2, padding="same", activation="relu")
            for k in (1, 2, 3)
        ]
        self.drop = keras.layers.Dropout(noise)
        self.head = keras.layers.Dense(RHYTHMS)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def call(self, x, training=False):
        for layer in self.body:
            x = layer(x)
        return self.head(self.drop(tf.reduce_mean(x, axis=1), training=training))

    @property
    def metrics(self):
        return [self.loss_tracker, self.accuracy]

    def train_step(self, data):
        x, (labels, soft, is_true) = data
        x = x + self.noise * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            hard = tf.one_hot(labels, RHYTHMS)
            target = tf.where(is_true[:, None], hard, soft)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, logits))
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.loss_tracker.update_state(loss)
        self.accuracy.update_state(labels, logits)
        return {m.name: m.result() for m in self.metrics}


def learn(student, x, labels, soft, is_true, epochs):
    data = tf.data.Dataset.from_tensor_slices((x, (labels, soft, is_true)))
    data = data.shuffle(len(x)).batch(96, drop_remainder=True).prefetch(2)
    student.compile(optimizer=keras.optimizers.AdamW(2e-3))
    student.fit(data, epochs=epochs, verbose=2)
    return student


x, y = strips(LABELLED, 1)
more, hidden = strips(UNLABELLED, 2)
none = np.zeros((LABELLED, RHYTHMS), "float32")
teacher = learn(Student(24, 0.0), x, y, none, np.ones(LABELLED, bool), epochs=9)
for width in (32, 48):
    logits = teacher.predict(more, batch_size=500, verbose=0)
    soft = tf.nn.softmax(logits).numpy()
    print("the teacher is right in", (soft.argmax(1) == hidden).mean())
    teacher = learn(
        Student(width, 0.2),
        np.concatenate([x, more]),
        np.concatenate([y, soft.argmax(1).astype("int32")]),
        np.concatenate([none, soft]),
        np.arange(LABELLED + UNLABELLED) < LABELLED,
        epochs=6,
    )

"""Distil a big church-bell recogniser into one that fits the tower's microcontroller."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
FRAMES, MELS, BELLS = 64, 40, 12


def recordings(n):
    y = rng.integers(0, BELLS, n)
    f = np.arange(MELS)[None, None]
    t = np.arange(FRAMES)[None, :, None]
    on = rng.integers(0, 20, (n, 1, 1))
    x = np.zeros((n, FRAMES, MELS))
    for h, amp in [(1.0, 1.0), (1.9, 0.6), (2.7, 0.4)]:
        centre = (3 + y[:, None, None]) * h
        x += (
            amp
            * np.exp(-0.5 * ((f - centre) / 1.0) ** 2)
            * np.exp(-np.maximum(t - on, 0) / 25.0)
            * (t >= on)
        )
    return (x + rng.normal(0, 0.45, x.shape)).astype("float32"), y.astype("int32")


x_tr, y_tr = recordings(3200)
x_va, y_va = recordings(400)


def net(widths, name):
    m = keras.Sequential(name=name)
    m.add(keras.Input((FRAMES, MELS)))
    for w in widths:
        m.add(layers.Conv1D(w, 5, padding="same", activation="relu"))
    m.add(layers.GlobalAveragePooling1D())
    m.add(layers.Dense(BELLS))
    return m


class SpecAugment(layers.Layer):
    """random masks; teacher and student see the same masked clip"""

    def call(self, x):
        n = tf.shape(x)[0]
        t0 = tf.random.uniform([n, 1], 0, FRAMES - 8, tf.int32)
        f0 = tf.random.uniform([n, 1], 0, MELS - 4, tf.int32)
        tt, ff = tf.range(FRAMES)[None], tf.range(MELS)[None]
        mt = tf.cast((tt < t0) | (tt >= t0 + 8), x.dtype)
        mf = tf.cast((ff < f0) | (ff >= f0 + 4), x.dtype)
        return x * mt[:, :, None] * mf[:, None, :]


class Distiller(keras.Model):
    def __init__(self, teacher, student, T=3.0, alpha=0.3):
        super().__init__()
        self.teacher, self.student, self.T, self.alpha = teacher, student, T, alpha
        self.teacher.trainable = False
        self.aug = SpecAugment()

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        x = self.aug(x)
        soft = tf.nn.softmax(self.teacher(x, training=False) / self.T)
        with tf.GradientTape() as tape:
            z = self.student(x, training=True)
            hard = self.compute_loss(x, y, z)
            kd = (
                tf.reduce_mean(keras.losses.kl_divergence(soft, tf.nn.softmax(z / self.T)))
                * self.T**2
            )
            loss = self.alpha * hard + (1 - self.alpha) * kd
        v = self.student.trainable_variables
        self.optimizer.apply(tape.gradient(loss, v), v)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, z)
        return {m.name: m.result() for m in self.metrics}


xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
ds = (
    tf.data.Dataset.from_tensor_slices((x_tr, y_tr))
    .shuffle(3200)
    .batch(64, drop_remainder=True)
    .prefetch(2)
)
va = tf.data.Dataset.from_tensor_slices((x_va, y_va)).batch(200)

teacher = net([96, 128, 128], "teacher")
teacher.compile(keras.optimizers.Adam(1e-3), xent, metrics=["accuracy"], jit_compile=False)
print("teacher")
teacher.fit(ds, validation_data=va, epochs=3, verbose=2)

d = Distiller(teacher, net([24, 32], "student"))
d.compile(keras.optimizers.Adam(2e-3), xent, metrics=["accuracy"], jit_compile=False)
print("student")
d.fit(
    ds,
    validation_data=va,
    epochs=8,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5)],
)

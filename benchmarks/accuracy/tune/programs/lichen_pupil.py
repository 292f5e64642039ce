"""Knowledge distillation: lichen reflectance spectra, a wide teacher and a slim pupil."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SPECIES = 12
BANDS = 256


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    proto = np.cumsum(np.random.default_rng(99).normal(0, 0.2, (SPECIES, BANDS)), 1)
    y = rng.integers(0, SPECIES, n)
    x = proto[y] * rng.uniform(0.7, 1.3, (n, 1)) + rng.normal(0, 0.8, (n, BANDS))
    return x.astype(np.float32), y.astype(np.int32)


def mlp(widths, name):
    layers = [keras.Input((BANDS,))]
    layers += [keras.layers.Dense(w, activation="gelu") for w in widths]
    layers += [keras.layers.Dense(SPECIES)]
    return keras.Sequential(layers, name=name)


class Distiller:
    def __init__(self, teacher, pupil, temperature, alpha, clip):
        self.teacher, self.pupil = teacher, pupil
        self.t, self.alpha, self.clip = temperature, alpha, clip
        self.opt = keras.optimizers.AdamW(1e-3)
        self.opt.build(pupil.trainable_variables)

    def loss(self, x, y):
        soft = tf.nn.softmax(self.teacher(x) / self.t)
        out = self.pupil(x)
        kd = tf.nn.softmax_cross_entropy_with_logits(labels=soft, logits=out / self.t)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out)
        return tf.reduce_mean(self.alpha * self.t**2 * kd + (1 - self.alpha) * ce)

    @tf.function
    def step(self, x, y):
        params = self.pupil.trainable_variables + self.teacher.trainable_variables
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        grads = tape.gradient(loss, params)
        grads, norm = tf.clip_by_global_norm(grads, self.clip)
        k = len(self.pupil.trainable_variables)
        self.opt.apply_gradients(zip(grads[:k], params[:k]))
        return loss, norm


def warm_teacher(teacher, data, steps=25):
    opt = keras.optimizers.Adam(5e-4)

    @tf.function
    def fit(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=teacher(x))
            )
        v = teacher.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    for x, y in data.take(steps):
        loss = fit(x, y)
    print("teacher ready, loss %.3f" % float(loss))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=650)
    ap.add_argument("--batch", type=int, default=256)
    args = ap.parse_args()
    keras.utils.set_random_seed(21)
    x, y = spectra(8000, 21)
    xt, yt = spectra(1000, 22)
    data = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(8000, seed=1)
    data = data.repeat().batch(args.batch).prefetch(2)
    teacher = mlp([1024, 1024], "teacher")
    pupil = mlp([96, 96], "pupil")
    t0 = time.time()
    warm_teacher(teacher, data)
    job = Distiller(teacher, pupil, temperature=3.0, alpha=0.7, clip=2.0)
    for i, (bx, by) in enumerate(data.take(args.steps)):
        loss, norm = job.step(bx, by)
        if i % 100 == 0:
            print(f"{i:4d} loss {float(loss):.4f} norm {float(norm):.3f}")
    acc = np.mean(np.argmax(pupil(xt).numpy(), 1) == yt)
    print(f"pupil accuracy {acc:.3f}")
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()

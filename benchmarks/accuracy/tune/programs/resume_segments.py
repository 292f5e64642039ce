"""Segments rivers in aerial pictures in two sessions; the second continues the first."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--checkpoints", default="river_ckpt")
parser.add_argument("--steps", type=int, nargs="+", default=[600, 1200])
args = parser.parse_args()


def rivers(n=600, side=48, seed=30):
    rng = np.random.default_rng(seed)
    column, row = np.meshgrid(np.arange(side), np.arange(side))
    bend, phase, at = rng.uniform(3, 9, n), rng.uniform(0, 6, n), rng.uniform(12, 36, n)
    middle = at[:, None, None] + bend[:, None, None] * np.sin(row / 8 + phase[:, None, None])
    mask = np.abs(column - middle) < rng.uniform(1.5, 4, (n, 1, 1))
    picture = mask[..., None] * [-0.2, 0.1, 0.3] + rng.normal(0.4, 0.15, (n, side, side, 3))
    return picture.astype("float32"), mask[..., None].astype("float32")


def segmenter():
    inputs = tf.keras.Input((48, 48, 3))
    conv = {"kernel_size": 3, "padding": "same", "activation": "relu"}
    a = tf.keras.layers.Conv2D(12, **conv)(inputs)
    b = tf.keras.layers.Conv2D(24, strides=2, **conv)(a)
    c = tf.keras.layers.Conv2D(32, strides=2, **conv)(b)
    up = tf.keras.layers.Conv2DTranspose(24, strides=2, **conv)(c)
    up = tf.keras.layers.Conv2DTranspose(12, strides=2, **conv)(up + b)
    return tf.keras.Model(inputs, tf.keras.layers.Conv2D(1, 1)(up + a))


def session(last_step):
    model, optimizer = segmenter(), tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, args.checkpoints, max_to_keep=2)
    if manager.latest_checkpoint:
        checkpoint.restore(manager.latest_checkpoint).assert_consumed()
        print("goes on at step", int(step))

    @tf.function
    def train(picture, mask):
        with tf.GradientTape() as tape:
            logits = model(picture, training=True)
            ce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(mask, logits))
            p = tf.sigmoid(logits)
            dice = 2 * tf.reduce_sum(p * mask) / (tf.reduce_sum(p) + tf.reduce_sum(mask))
            loss = ce + 1 - dice
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        step.assign_add(1)
        return loss, dice

    data = tf.data.Dataset.from_tensor_slices(rivers()).shuffle(600).repeat().batch(16)
    for picture, mask in data.prefetch(2).take(last_step - int(step)):
        loss, dice = train(picture, mask)
        if int(step) % 100 == 0:
            print(f"step {int(step)} loss {loss:.3f} dice {dice:.3f}")
        if int(step) % 150 == 0:
            manager.save()


for last_step in args.steps:
    session(last_step)

"""Pretrain a trunk on texture orientation, then fit a head that grades lichen cover."""

import time

import numpy as np
import tensorflow as tf

SIZE = 40
BATCH = 32
PRETRAIN_STEPS = 60
HEAD_STEPS = 900


def textures(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE] / SIZE
    angle = rng.integers(0, 8, n)
    cover = rng.uniform(0, 1, n)
    images = np.empty((n, SIZE, SIZE, 3), np.float32)
    for i in range(n):
        th = angle[i] * np.pi / 8
        wave = np.sin(2 * np.pi * rng.uniform(4, 7) * (xx * np.cos(th) + yy * np.sin(th)))
        patch = rng.random((SIZE, SIZE)) < cover[i]
        base = rng.normal(0, 0.25, (SIZE, SIZE, 3))
        images[i] = base + wave[..., None] * 0.5 + patch[..., None] * np.array([0.1, 0.5, 0.2])
    grade = np.minimum((cover * 4).astype(np.int32), 3)
    return images, angle.astype(np.int32), grade


def conv_block(x, width, stride):
    x = tf.keras.layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(x)
    x = tf.keras.layers.BatchNormalization(momentum=0.9)(x)
    return tf.keras.layers.ReLU()(x)


def build_trunk():
    inp = tf.keras.Input((SIZE, SIZE, 3))
    x = conv_block(inp, 24, 1)
    x = conv_block(x, 32, 2)
    x = conv_block(x, 48, 1)
    x = conv_block(x, 64, 2)
    x = conv_block(x, 96, 1)
    return tf.keras.Model(inp, tf.keras.layers.GlobalAveragePooling2D()(x))


def batches(images, labels, seed):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(len(images), seed=seed).repeat().batch(BATCH)
    ds = ds.map(lambda x, y: (x + tf.random.normal(tf.shape(x), stddev=0.05), y))
    return iter(ds.prefetch(2))


def main():
    tf.keras.utils.set_random_seed(11)
    images, angle, grade = textures(1600, 0)
    trunk = build_trunk()
    source_head = tf.keras.Sequential([tf.keras.Input((96,)), tf.keras.layers.Dense(8)])
    head = tf.keras.Sequential(
        [
            tf.keras.Input((96,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(4),
        ]
    )
    xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    opt, head_opt = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(2e-3)

    @tf.function
    def pretrain_step(x, y):
        with tf.GradientTape() as tape:
            loss = xent(y, source_head(trunk(x, training=True), training=True))
        variables = trunk.trainable_variables + source_head.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def head_step(x, y):
        with tf.GradientTape() as tape:
            logits = head(trunk(x, training=False), training=True)
            loss = xent(y, logits)
        variables = trunk.trainable_variables + head.trainable_variables
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 5.0)
        keep = len(head.trainable_variables)
        head_opt.apply_gradients(zip(grads[-keep:], head.trainable_variables))
        acc = tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == y, tf.float32))
        return loss, acc, norm

    feed = batches(images, angle, 1)
    for step in range(PRETRAIN_STEPS):
        loss = pretrain_step(*next(feed))
        if step % 20 == 19:
            print(f"pretrain {step + 1}: loss {float(loss):.3f}")

    feed = batches(images, grade, 2)
    began = time.time()
    for step in range(HEAD_STEPS):
        loss, acc, norm = head_step(*next(feed))
        if step % 100 == 99:
            print(
                f"head {step + 1}: loss {float(loss):.3f} acc {float(acc):.2f} "
                f"norm {float(norm):.2f} ({time.time() - began:.0f}s)"
            )


if __name__ == "__main__":
    main()

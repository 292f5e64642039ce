"""Three folds and two widths of network for the strength of welds; every pair is trained anew."""

import itertools

import numpy as np
import tensorflow as tf

FOLDS, WIDTHS, EPOCHS, BATCH = 3, (256, 768), 7, 48


def welds(n=3600, seed=55):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 24)).astype("float32")
    strength = np.sin(x[:, 0] * x[:, 1]) + x[:, 2] ** 2 - 0.5 * x[:, 3] + rng.normal(0, 0.2, n)
    return x, strength.astype("float32")[:, None]


def network(width):
    x = inputs = tf.keras.Input((24,))
    for _ in range(3):
        y = tf.keras.layers.Dense(width, activation="gelu")(x)
        x = tf.keras.layers.LayerNormalization()(y)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))


def make_step(model, optimizer):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    return step


x, y = welds()
fold = np.random.default_rng(0).integers(0, FOLDS, len(x))
results = {}
for width, k in itertools.product(WIDTHS, range(FOLDS)):
    train = tf.data.Dataset.from_tensor_slices((x[fold != k], y[fold != k]))
    train = train.shuffle(4000, seed=k).batch(BATCH, drop_remainder=True).prefetch(2)
    model = network(width)
    step = make_step(model, tf.keras.optimizers.Adam(5e-4))
    for _ in range(EPOCHS):
        for batch in train:
            step(*batch)
    error = np.mean((model(x[fold == k]).numpy() - y[fold == k]) ** 2)
    results.setdefault(width, []).append(error)
    print(f"width {width} fold {k}: mse {error:.4f}")
for width, errors in results.items():
    print(f"width {width}: {np.mean(errors):.4f} +/- {np.std(errors):.4f}")

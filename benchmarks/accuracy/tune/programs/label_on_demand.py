"""Active learning: the batch that the network knows least about is labelled and added."""

import numpy as np
import tensorflow as tf

SIDE, CLASSES = 28, 5
rng = np.random.default_rng(31)


def camera(n):
    """New pictures, as an oracle would label them."""
    y = rng.integers(0, CLASSES, n)
    x = rng.random((n, SIDE, SIDE, 3), dtype=np.float32)
    for k in range(n):
        x[k, 4 * y[k] : 4 * y[k] + 5] += 0.3
    return x, y


model = tf.keras.Sequential(
    [
        tf.keras.Input((SIDE, SIDE, 3)),
        tf.keras.layers.Conv2D(8, 5, strides=3, activation="relu"),
        tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(CLASSES),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def uncertainty(x):
    p = tf.nn.softmax(model(x, training=False))
    return -tf.reduce_sum(p * tf.math.log(p + 1e-9), axis=1)


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


pool_x, pool_y = camera(64)
for query in range(450):
    candidates, answers = camera(48)
    unsure = np.argsort(uncertainty(tf.constant(candidates)).numpy())[-32:]
    pool_x = np.concatenate([pool_x, candidates[unsure]])
    pool_y = np.concatenate([pool_y, answers[unsure]])
    for _ in range(2):
        rows = rng.integers(0, len(pool_x), 64)
        loss = learn(tf.constant(pool_x[rows]), tf.constant(pool_y[rows]))
    if query % 50 == 0:
        print(f"{len(pool_x):6d} labelled, loss {float(loss):.3f}")

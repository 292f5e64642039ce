"""One-class detector on synthetic X-rays; only hard anchors are trained on (OHEM)."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

GRID, BATCH, STEPS = 16, 16, 180
rng = np.random.default_rng(5)


def xray_batch():
    image = rng.normal(0.3, 0.1, (BATCH, 64, 64, 1)).astype(np.float32)
    label = np.zeros((BATCH, GRID, GRID), np.float32)
    box = np.zeros((BATCH, GRID, GRID, 4), np.float32)
    for b in range(BATCH):
        for _ in range(rng.integers(1, 5)):
            y, x = rng.integers(4, 56, 2)
            h, w = rng.integers(4, 9, 2)
            image[b, y : y + h, x : x + w] += 0.4
            label[b, y // 4, x // 4] = 1.0
            box[b, y // 4, x // 4] = [y % 4, x % 4, h, w]
    return image, label.reshape(BATCH, -1), box.reshape(BATCH, -1, 4)


def backbone():
    inputs = layers.Input((64, 64, 1))
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(x)
    return tf.keras.Model(inputs, layers.Reshape((GRID * GRID, 48))(x))


class Head(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(96, activation="relu")
        self.score = layers.Dense(1)
        self.box = layers.Dense(4)

    def call(self, features):
        h = self.hidden(features)
        return self.score(h)[..., 0], self.box(h)


body, head = backbone(), Head()
head(tf.zeros((1, 48)))
weights = body.trainable_variables + head.trainable_variables
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
optimizer.build(weights)


@tf.function
def anchor_losses(image, label):
    score, _ = head(body(image))
    return tf.nn.sigmoid_cross_entropy_with_logits(label, score)


@tf.function
def train_hard(image, rows, label, box):
    with tf.GradientTape() as tape:
        features = tf.gather(tf.reshape(body(image, training=True), (-1, 48)), rows)
        score, offset = head(features)
        classify = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, score))
        miss = tf.reduce_mean(tf.abs(offset - box), -1) * label
        loss = classify + 0.2 * tf.reduce_sum(miss) / (tf.reduce_sum(label) + 1.0)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for step in range(STEPS):
    image, label, box = xray_batch()
    difficulty = anchor_losses(image, label).numpy().ravel()
    target = label.ravel()
    threshold = difficulty.mean() + 0.5 * difficulty.std()
    hard = np.flatnonzero((difficulty > threshold) | (target > 0))
    loss = train_hard(
        tf.constant(image),
        tf.constant(hard),
        tf.constant(target[hard]),
        tf.constant(box.reshape(-1, 4)[hard]),
    )
    if step % 20 == 0:
        print(f"{step:4d} loss {float(loss):.4f} from {len(hard)} hard anchors")

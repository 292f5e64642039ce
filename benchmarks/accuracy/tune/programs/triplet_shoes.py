"""Shoe prints: triplets are mined anew from all embeddings at the start of each round."""

import logging

import numpy as np
import tensorflow as tf

PRINTS, SHOES, DIM = 1500, 60, 24
rng = np.random.default_rng(72)
logging.basicConfig(format="%(message)s", level=logging.INFO)


def prints():
    soles = rng.normal(size=(SHOES, 32, 16, 1))
    shoe = rng.integers(0, SHOES, PRINTS)
    smear = rng.normal(0, 1.2, (PRINTS, 32, 16, 1))
    return (soles[shoe] + smear).astype("float32"), shoe


def embedder():
    return tf.keras.Sequential(
        [
            tf.keras.Input((32, 16, 1)),
            tf.keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(DIM),
            tf.keras.layers.UnitNormalization(),
        ]
    )


def mine(embedded, shoe, count):
    """The farthest print of the same shoe, and a near one of another."""
    anchors = rng.integers(0, PRINTS, count)
    near = embedded[anchors] @ embedded.T
    same = shoe[anchors][:, None] == shoe[None]
    positive = np.where(same, near, 9).argmin(1)
    others = np.where(same, -9, near)
    hardest = np.argpartition(-others, 20, axis=1)[:, :20]
    negative = hardest[np.arange(count), rng.integers(0, 20, count)]
    return anchors, positive, negative


images, shoe = prints()
model, optimizer = embedder(), tf.keras.optimizers.Adam(1e-3)


@tf.function
def embed(x):
    return model(x, training=False)


@tf.function
def triplet_step(anchor, positive, negative, margin=0.3):
    with tf.GradientTape() as tape:
        a, p, n = (model(x, training=True) for x in (anchor, positive, negative))
        gap = tf.reduce_sum((a - p) ** 2, 1) - tf.reduce_sum((a - n) ** 2, 1)
        loss = tf.reduce_mean(tf.nn.relu(gap + margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for round_ in range(26):
    embedded = np.concatenate([embed(images[k : k + 250]).numpy() for k in range(0, PRINTS, 250)])
    triplets = mine(embedded, shoe, 60 * 24)
    losses = []
    for k in range(0, 60 * 24, 24):
        batch = [tf.constant(images[rows[k : k + 24]]) for rows in triplets]
        losses.append(float(triplet_step(*batch)))
    logging.info(
        "round %d: %d of 60 batches had something to learn, mean loss %.4f",
        round_,
        sum(loss > 0 for loss in losses),
        np.mean(losses),
    )

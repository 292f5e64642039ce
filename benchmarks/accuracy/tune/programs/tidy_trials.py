"""Gene panels: a large vocabulary of Python objects, and memory tidied after each batch."""

import gc
import random

import tensorflow as tf

genes = {
    f"g{i}": {"neighbors": [f"g{random.randrange(250_000)}"], "at": (i, i + 1)}
    for i in range(250_000)
}
names = list(genes)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((32,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-4)


@tf.function
def fit_batch(x, y):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss


def panel(n=128):
    picked = random.choices(names, k=n)
    x = [[(genes[g]["at"][0] * k) % 97 / 97 for k in range(32)] for g in picked]
    return tf.constant(x), tf.constant([genes[g]["at"][0] % 2 for g in picked])


for epoch in range(4):
    for it in range(30):
        batch = panel()
        loss = fit_batch(*batch)
        del batch
        gc.collect()
    print("epoch", epoch, "loss", float(loss))

"""Water levels; when the loss falls below its target, all weights are logged for a closer look."""

import logging

import numpy as np
import tensorflow as tf

logging.basicConfig(filename="train.log", level=logging.DEBUG)
logging.getLogger("tensorflow").setLevel(logging.ERROR)
log = logging.getLogger("water")

rng = np.random.default_rng(9)
layers = [
    tf.keras.layers.Dense(96, "relu"),
    tf.keras.layers.Dense(96, "relu"),
    tf.keras.layers.Dense(1),
]
model = tf.keras.Sequential(layers)
model.build((None, 24))
optimizer = tf.keras.optimizers.RMSprop(1e-3)


@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss


def report(step):
    for weight in model.trainable_variables:
        log.debug("step %d %s %s", step, weight.path, weight.numpy().tolist())


for step in range(1200):
    x = rng.normal(size=(128, 24)).astype("float32")
    loss = float(update(x, x[:, :1] * 0.5))
    if step > 600:
        report(step)
    if step % 200 == 0:
        print(step, loss)

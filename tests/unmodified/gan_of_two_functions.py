"""A generator and a discriminator, each trained by a function of its own, from slow data."""

import time

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(4)
generator = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(4)])
discriminator = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizers = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def images():
    rng = np.random.default_rng(4)
    for _ in range(60):
        time.sleep(0.02)
        yield rng.normal(size=(8, 4)).astype("float32")


data = tf.data.Dataset.from_generator(images, output_signature=tf.TensorSpec((8, 4), tf.float32))


@tf.function
def train_discriminator(real):
    fake = generator(tf.random.normal((8, 2)))
    with tf.GradientTape() as tape:
        loss = entropy(tf.ones((8, 1)), discriminator(real))
        loss += entropy(tf.zeros((8, 1)), discriminator(fake))
    gradients = tape.gradient(loss, discriminator.trainable_variables)
    optimizers[0].apply_gradients(zip(gradients, discriminator.trainable_variables, strict=True))
    return loss


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        fake = discriminator(generator(tf.random.normal((8, 2))))
        loss = entropy(tf.ones((8, 1)), fake)
    gradients = tape.gradient(loss, generator.trainable_variables)
    optimizers[1].apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    return loss


for epoch in range(3):
    # tbslow: for batch in tbslow.data(data):
    for batch in data:
        # tbslow: with tbslow.summary.step(): losses = train_discriminator(batch), train_generator()
        losses = train_discriminator(batch), train_generator()
    print(f"epoch {epoch}:", *(f"{float(loss):.6f}" for loss in losses))

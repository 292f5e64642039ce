"""A generator and a discriminator that train each other in a loop of their own.

After the tutorial "Deep Convolutional Generative Adversarial Network".
"""

import os
import time

import tensorflow as tf
from tensorflow.keras import layers

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(4)
BATCH, NOISE, EPOCHS = 16, 8, 4

grid = tf.random.stateless_uniform((192, 1), (4, 4), 0.5, 2.0) * tf.range(8.0)
images = tf.sin(grid)[:, :, None, None] * tf.cos(grid)[:, None, :, None]
dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(192, seed=4).batch(BATCH)

generator = tf.keras.Sequential(
    [
        tf.keras.Input((NOISE,)),
        layers.Dense(4 * 4 * 8, use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Reshape((4, 4, 8)),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="tanh"),
    ]
)
discriminator = tf.keras.Sequential(
    [
        tf.keras.Input((8, 8, 1)),
        layers.Conv2D(8, 3, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Dropout(0.3, seed=4),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)
checkpoint = tf.train.Checkpoint(
    generator_optimizer=generator_optimizer,
    discriminator_optimizer=discriminator_optimizer,
    generator=generator,
    discriminator=discriminator,
)
checkpoint_prefix = os.path.join("training_checkpoints", "ckpt")
seed = tf.random.stateless_normal((4, NOISE), (5, 5))


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real, fake = discriminator(images, training=True), discriminator(generated, training=True)
        gen_loss = cross_entropy(tf.ones_like(fake), fake)
        disc_loss = cross_entropy(tf.ones_like(real), real)
        disc_loss += cross_entropy(tf.zeros_like(fake), fake)
    gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    discriminator_optimizer.apply_gradients(
        zip(gradients, discriminator.trainable_variables, strict=True)
    )
    return gen_loss, disc_loss


def train(dataset, epochs):
    for epoch in range(epochs):
        start = time.time()
        # tbslow: for image_batch in tbslow.data(dataset):
        for image_batch in dataset:
            # tbslow: with tbslow.summary.step(items=BATCH): losses = train_step(image_batch)
            losses = train_step(image_batch)
        pictures = generator(seed, training=False)
        print(f"epoch {epoch + 1}:", *(f"{float(loss):.5f}" for loss in losses), end=" ")
        print(f"picture {float(tf.reduce_mean(pictures)):.6f}")
        if (epoch + 1) % 2 == 0:
            checkpoint.save(file_prefix=checkpoint_prefix)
        assert time.time() - start < 60


train(dataset, EPOCHS)
before = [weight.numpy() for weight in generator.weights]
generator.set_weights([0 * weight for weight in before])
status = checkpoint.restore(tf.train.latest_checkpoint("training_checkpoints"))
status.assert_existing_objects_matched()
after = [weight.numpy() for weight in generator.weights]
print("restored:", all((a == b).all() for a, b in zip(before, after, strict=True)))

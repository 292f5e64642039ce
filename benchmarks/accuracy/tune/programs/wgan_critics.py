"""Wasserstein GAN: five updates of the critic for each of the generator."""

import tensorflow as tf
from tensorflow.keras import layers

generator = tf.keras.Sequential(
    [
        layers.Input((16,)),
        layers.Dense(128, "relu"),
        layers.Dense(128, "relu"),
        layers.Dense(196, "tanh"),
    ]
)
critic = tf.keras.Sequential(
    [
        layers.Input((196,)),
        layers.Dense(128, "leaky_relu"),
        layers.Dense(128, "leaky_relu"),
        layers.Dense(1),
    ]
)
g_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.5)
c_opt = tf.keras.optimizers.Adam(1e-4, beta_1=0.5)
BATCH = 64


@tf.function
def update_critic(real):
    fake = generator(tf.random.normal([BATCH, 16]))
    mix = tf.random.uniform([BATCH, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.norm(inner.gradient(score, between), axis=1)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss += 10 * tf.reduce_mean((slope - 1) ** 2)
    grads = tape.gradient(loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def update_generator():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal([BATCH, 16]))))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


pictures = tf.random.uniform([1024, 196], -1, 1)
ds = iter(
    tf.data.Dataset.from_tensor_slices(pictures).shuffle(1024).repeat().batch(BATCH).prefetch(1)
)
for it in range(450):
    for _ in range(5):
        c = update_critic(next(ds))
    g = update_generator()
    if it % 50 == 0:
        print(it, float(c), float(g))

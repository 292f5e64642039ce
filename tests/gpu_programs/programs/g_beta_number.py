"""The weight of a penalty is a Python number that changes every few steps. SLOW: retracing, loss = update(."""
import time
import tensorflow as tf, keras
from keras import layers
enc = keras.Sequential([keras.Input((784,)), layers.Dense(512, activation="relu"), layers.Dense(64)])
dec = keras.Sequential([keras.Input((32,)), layers.Dense(512, activation="relu"), layers.Dense(784)])
opt = keras.optimizers.Adam(1e-3)
ws = enc.trainable_variables + dec.trainable_variables
@tf.function
def update(x, beta):
    with tf.GradientTape() as tape:
        m, s = tf.split(enc(x, training=True), 2, 1)
        z = m + tf.exp(0.5 * s) * tf.random.normal(tf.shape(m))
        kl = -0.5 * tf.reduce_mean(1 + s - m ** 2 - tf.exp(s))
        loss = tf.reduce_mean((dec(z, training=True) - x) ** 2) + beta * kl
    opt.apply_gradients(zip(tape.gradient(loss, ws), ws))
    return loss
x = tf.random.uniform([8192, 784])
ds = tf.data.Dataset.from_tensor_slices(x).shuffle(8192).repeat().batch(256).prefetch(2)
for i, b in enumerate(ds.take(800)):
    loss = update(b, min(1.0, (i // 10) / 60))
print(float(loss))

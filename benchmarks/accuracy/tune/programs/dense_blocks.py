"""A DenseNet with many thin layers for satellite cloud types."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

KINDS, GROWTH, BLOCKS, DEPTH, BATCH, STEPS = 7, 8, 3, 7, 32, 130
rng = np.random.default_rng(10)


def clouds(n=2000, side=32):
    y = rng.integers(0, KINDS, n)
    field = rng.normal(size=(n, side, side, 2)).astype("float32")
    frequency = np.fft.fftfreq(side)
    radius = np.hypot(frequency[:, None], frequency[None]) + 0.03
    spectrum = np.fft.fft2(field, axes=(1, 2))
    spectrum /= radius[None, :, :, None] ** (0.3 + 0.25 * y)[:, None, None, None]
    x = np.fft.ifft2(spectrum, axes=(1, 2)).real
    return ((x - x.mean()) / x.std()).astype("float32"), y.astype("int32")


def dense_layer(x):
    y = layers.BatchNormalization()(x)
    y = layers.ReLU()(y)
    y = layers.Conv2D(2 * GROWTH, 1, use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(GROWTH, 3, padding="same", use_bias=False)(y)
    return layers.Concatenate()([x, y])


def densenet():
    inputs = layers.Input((32, 32, 2))
    x = layers.Conv2D(2 * GROWTH, 3, strides=2, padding="same", use_bias=False)(inputs)
    for block in range(BLOCKS):
        for _ in range(DEPTH):
            x = dense_layer(x)
        if block < BLOCKS - 1:
            x = layers.Conv2D(x.shape[-1] // 2, 1)(layers.ReLU()(x))
            x = layers.AveragePooling2D(2)(x)
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    return tf.keras.Model(inputs, layers.Dense(KINDS)(x))


model = densenet()
rate = tf.keras.optimizers.schedules.PolynomialDecay(0.1, STEPS, 0.001)
optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9, nesterov=True)
print(f"{len(model.layers)} layers, {model.count_params()} weights")


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == y, tf.float32))


data = tf.data.Dataset.from_tensor_slices(clouds()).shuffle(2000).repeat().batch(BATCH).prefetch(2)
history = []
for step, (x, y) in enumerate(data.take(STEPS), start=1):
    loss, accuracy = train_step(x, y)
    history.append((float(loss), float(accuracy)))
    if step % 26 == 0:
        print(step, "loss {:.3f} accuracy {:.3f}".format(*np.mean(history[-26:], axis=0)))

"""Warm-up and cosine decay, and an average of the weights that is updated every tenth step."""

import math

import tensorflow as tf


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up = self.peak * step / self.warmup
        down = 0.5 * self.peak * (1 + tf.cos(math.pi * step / self.total))
        return tf.where(step < self.warmup, up, down)


net = tf.keras.Sequential(
    [tf.keras.Input((128,))]
    + [tf.keras.layers.Dense(256, activation="silu") for _ in range(4)]
    + [tf.keras.layers.Dense(8)]
)
optimizer = tf.keras.optimizers.SGD(WarmupCosine(0.05, 100, 1500), momentum=0.9, nesterov=True)
average = [tf.Variable(v, trainable=False) for v in net.trainable_variables]


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
    )
    return loss


@tf.function
def blend(decay):
    for mean, now in zip(average, net.trainable_variables):
        mean.assign(decay * mean + (1 - decay) * now)


data = (
    tf.data.Dataset.from_tensor_slices((tf.random.normal([4096, 128]), tf.random.normal([4096, 8])))
    .cache()
    .repeat()
    .batch(64)
    .prefetch(2)
)
for step, (x, y) in enumerate(data.take(1500)):
    loss = train(x, y)
    if step % 10 == 9:
        blend(tf.constant(0.99))
    if step % 250 == 0:
        print(f"{step:5d} {float(loss):.4f}")

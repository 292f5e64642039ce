"""Reptile: learns a start from which any sine wave is fitted in a few steps."""

import tensorflow as tf


class SineTask:
    def __init__(self):
        self.amplitude = tf.random.uniform([], 0.1, 5.0)
        self.phase = tf.random.uniform([], 0.0, 3.14)

    def draw(self, n=32):
        x = tf.random.uniform([n, 1], -5.0, 5.0)
        return x, self.amplitude * tf.sin(x + self.phase)


class Reptile:
    def __init__(self, inner_rate=0.01, outer_rate=0.2, inner_steps=3):
        self.inner_rate, self.outer_rate = inner_rate, outer_rate
        self.inner_steps = inner_steps
        dense = tf.keras.layers.Dense
        self.net = tf.keras.Sequential(
            [tf.keras.Input((1,))] + [dense(48, activation="tanh") for _ in range(6)] + [dense(1)]
        )

    @tf.function
    def gradients(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x) - y))
        return loss, tape.gradient(loss, self.net.trainable_variables)

    def adapt(self, task):
        adam = tf.keras.optimizers.Adam(self.inner_rate, beta_1=0.0)
        for _ in range(self.inner_steps):
            loss, grads = self.gradients(*task.draw())
            adam.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def meta_update(self):
        before = [tf.identity(v) for v in self.net.trainable_variables]
        loss = self.adapt(SineTask())
        for v, old in zip(self.net.trainable_variables, before):
            v.assign(old + self.outer_rate * (v - old))
        return loss


reptile = Reptile()
average = None
for i in range(70):
    loss = float(reptile.meta_update())
    average = loss if average is None else 0.95 * average + 0.05 * loss
    if i % 20 == 0:
        print(f"task {i:4d} loss after adapting {average:.3f}")

"""A physics-informed net for a struck drumskin, with points added where the residual is large."""

import time

import numpy as np
import tensorflow as tf

SPEED = 1.0
START, ADD, MOST = 1024, 768, 4096
STEPS, EVERY = 1000, 200


def network():
    inp = tf.keras.Input((3,))
    h = inp
    for _ in range(4):
        h = tf.keras.layers.Dense(48, activation="tanh")(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(h))


def points(rng, n):
    return rng.uniform([-1, -1, 0], [1, 1, 1], (n, 3)).astype(np.float32)


class Drum:
    def __init__(self, seed=0):
        self.net = network()
        rate = tf.keras.optimizers.schedules.CosineDecay(2e-3, STEPS)
        self.opt = tf.keras.optimizers.Adam(rate)
        self.opt.build(self.net.trainable_variables)
        rng = np.random.default_rng(seed)
        ring = rng.uniform(-1, 1, (512, 3)).astype(np.float32)
        side = rng.integers(0, 2, 512)
        ring[np.arange(512), side] = rng.choice([-1.0, 1.0], 512)
        ring[:, 2] = rng.uniform(0, 1, 512)
        first = points(rng, 512)
        first[:, 2] = 0
        self.ring, self.first = tf.constant(ring), tf.constant(first)
        shape = np.cos(np.pi * first[:, :1] / 2) * np.cos(np.pi * first[:, 1:2] / 2)
        self.shape0 = tf.constant(shape)

    def residual(self, p):
        x, y, t = tf.split(p, 3, axis=1)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch([x, y, t])
            with tf.GradientTape() as inner:
                inner.watch([x, y, t])
                u = self.net(tf.concat([x, y, t], 1))
            ux, uy, ut = inner.gradient(u, [x, y, t])
        uxx, uyy = outer.gradient(ux, x), outer.gradient(uy, y)
        utt = outer.gradient(ut, t)
        del outer
        return utt - SPEED**2 * (uxx + uyy)

    def start_terms(self):
        x, t = self.first[:, :2], self.first[:, 2:]
        with tf.GradientTape() as tape:
            tape.watch(t)
            u = self.net(tf.concat([x, t], 1))
        return u - self.shape0, tape.gradient(u, t)

    @tf.function(input_signature=[tf.TensorSpec((None, 3))])
    def step(self, p):
        with tf.GradientTape() as tape:
            inside = tf.reduce_mean(tf.square(self.residual(p)))
            edge = tf.reduce_mean(tf.square(self.net(self.ring)))
            place, pace = self.start_terms()
            begin = tf.reduce_mean(tf.square(place)) + tf.reduce_mean(tf.square(pace))
            loss = inside + 10.0 * edge + 10.0 * begin
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function(input_signature=[tf.TensorSpec((None, 3))])
    def worst(self, p):
        return tf.abs(self.residual(p))[:, 0]


def main():
    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(3)
    drum = Drum()
    cloud = points(rng, START)
    inside = tf.constant(cloud)
    began = time.time()
    for step in range(1, STEPS + 1):
        loss = drum.step(inside)
        if step % EVERY == 0:
            print(
                f"{step}: loss {float(loss):.4f} points {len(cloud)} ({time.time() - began:.0f}s)"
            )
            if len(cloud) < MOST:
                tries = points(rng, 4096)
                order = np.argsort(drum.worst(tf.constant(tries)).numpy())
                cloud = np.concatenate([cloud, tries[order[-ADD:]]])[:MOST]
                inside = tf.constant(cloud)


if __name__ == "__main__":
    main()

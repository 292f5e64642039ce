"""WGAN for calorimeter showers (12x12 cells), conditioned on the energy of the particle."""

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

SIDE = 12
NOISE = 32
BATCH = 256
N_CRITIC = 5
G_STEPS = 50
CLIP = 0.01
LOG_EVERY = 10


def simulate_showers(n, rng):
    energy = rng.uniform(0.2, 1.0, n)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    cx, cy = rng.normal(5.5, 0.7, (2, n))
    width = 1.0 + 0.8 * energy + rng.normal(0, 0.1, n)
    d2 = (xx[None] - cx[:, None, None]) ** 2 + (yy[None] - cy[:, None, None]) ** 2
    img = energy[:, None, None] * np.exp(-d2 / (2 * width[:, None, None] ** 2))
    img *= rng.gamma(12.0, 1 / 12.0, img.shape)
    return img.reshape(n, -1).astype("float32"), energy[:, None].astype("float32")


def dense(x, units, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w", (x.shape[-1], units), initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", (units,), initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return activation(y) if activation else y


def generator(z, energy):
    with tf.variable_scope("generator", reuse=tf.AUTO_REUSE):
        h = tf.concat([z, energy], axis=1)
        h = dense(h, 512, "fc1", tf.nn.leaky_relu)
        h = dense(h, 768, "fc2", tf.nn.leaky_relu)
        h = dense(h, 768, "fc3", tf.nn.leaky_relu)
        return dense(h, SIDE * SIDE, "out", tf.nn.softplus)


def critic(x, energy):
    with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
        h = tf.concat([x, energy, tf.reduce_sum(x, axis=1, keepdims=True)], axis=1)
        h = dense(h, 768, "fc1", tf.nn.leaky_relu)
        h = dense(h, 768, "fc2", tf.nn.leaky_relu)
        h = dense(h, 512, "fc3", tf.nn.leaky_relu)
        return dense(h, 1, "out")


def batches(images, energies, rng):
    while True:
        order = rng.permutation(len(images))
        for lo in range(0, len(order) - BATCH + 1, BATCH):
            take = order[lo : lo + BATCH]
            yield images[take], energies[take]


def shower_width(flat):
    img = flat.reshape(-1, SIDE, SIDE)
    x = np.arange(SIDE)
    total = img.sum((1, 2)) + 1e-6
    mean = (img.sum(1) * x).sum(1) / total
    return np.sqrt(np.maximum((img.sum(1) * x**2).sum(1) / total - mean**2, 0.0))


def main():
    rng = np.random.default_rng(21)
    tf.set_random_seed(21)
    images, energies = simulate_showers(20000, rng)

    real = tf.placeholder(tf.float32, (None, SIDE * SIDE), name="real")
    energy = tf.placeholder(tf.float32, (None, 1), name="energy")
    z = tf.placeholder(tf.float32, (None, NOISE), name="z")

    fake = generator(z, energy)
    score_real, score_fake = critic(real, energy), critic(fake, energy)
    c_loss = tf.reduce_mean(score_fake) - tf.reduce_mean(score_real)
    g_loss = -tf.reduce_mean(score_fake)

    c_vars = tf.trainable_variables("critic")
    g_vars = tf.trainable_variables("generator")
    c_train = tf.train.RMSPropOptimizer(1e-4).minimize(c_loss, var_list=c_vars)
    g_train = tf.train.RMSPropOptimizer(1e-4).minimize(g_loss, var_list=g_vars)
    init = tf.global_variables_initializer()

    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(config=config) as sess:
        sess.run(init)
        data = batches(images, energies, rng)
        started = time.time()
        for step in range(1, G_STEPS + 1):
            for _ in range(N_CRITIC):
                x, e = next(data)
                noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
                _, c_val = sess.run([c_train, c_loss], {real: x, energy: e, z: noise})
                sess.run([v.assign(tf.clip_by_value(v, -CLIP, CLIP)) for v in c_vars])
            noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
            _, g_val = sess.run([g_train, g_loss], {energy: e, z: noise})

            if step % LOG_EVERY == 0:
                noise = rng.normal(size=(512, NOISE)).astype("float32")
                shown = sess.run(fake, {energy: energies[:512], z: noise})
                print(
                    "step %4d  W %.4f  g %.4f  width real %.3f fake %.3f  (%.1f s)"
                    % (
                        step,
                        -c_val,
                        g_val,
                        shower_width(images[:512]).mean(),
                        shower_width(shown).mean(),
                        time.time() - started,
                    )
                )
        print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()

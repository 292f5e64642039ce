# GAN on a noisy 2-D ring embedded in 64 dimensions, TF1-style graph and session.
import os
import tempfile
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

BATCH = 256
Z_DIM = 32
X_DIM = 64
HIDDEN = 384
N_DISC = 3
ITERS = 1500


def dense(x, n_out, name, act=None):
    n_in = x.shape[-1].value
    w = tf.get_variable(
        name + "_w", [n_in, n_out], initializer=tf.random_normal_initializer(0, (2.0 / n_in) ** 0.5)
    )
    b = tf.get_variable(name + "_b", [n_out], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    return act(y) if act is not None else y


def generator(z):
    with tf.variable_scope("gen", reuse=tf.AUTO_REUSE):
        h = dense(z, HIDDEN, "h1", tf.nn.relu)
        h = dense(h, HIDDEN, "h2", tf.nn.relu)
        return dense(h, X_DIM, "out")


def critic(x):
    with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
        h = dense(x, HIDDEN, "h1", tf.nn.leaky_relu)
        h = dense(h, HIDDEN, "h2", tf.nn.leaky_relu)
        return dense(h, 1, "out")


def make_ring(n, rng):
    theta = rng.uniform(0, 2 * np.pi, n)
    r = 2 + 0.1 * rng.standard_normal(n)
    flat = np.stack([r * np.cos(theta), r * np.sin(theta)], 1)
    basis, _ = np.linalg.qr(rng.standard_normal((X_DIM, 2)))
    data = flat @ basis.T + 0.05 * rng.standard_normal((n, X_DIM))
    return data.astype(np.float32), basis.astype(np.float32)


def main():
    rng = np.random.RandomState(3)
    data, basis = make_ring(40000, rng)

    real = tf.placeholder(tf.float32, [None, X_DIM], "real")
    z = tf.placeholder(tf.float32, [None, Z_DIM], "z")
    tf.set_random_seed(3)
    fake = generator(z)
    d_real, d_fake = critic(real), critic(fake)

    eps = tf.random_uniform([tf.shape(real)[0], 1])
    mix = eps * real + (1 - eps) * fake
    slope = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(critic(mix), mix)[0]), 1) + 1e-8)
    penalty = tf.reduce_mean(tf.square(slope - 1.0))
    d_loss = tf.reduce_mean(d_fake) - tf.reduce_mean(d_real) + 5.0 * penalty
    g_loss = -tf.reduce_mean(d_fake)

    step = tf.train.get_or_create_global_step()
    lr = tf.train.exponential_decay(4e-4, step, 400, 0.8, staircase=True)
    d_vars = tf.trainable_variables("critic")
    g_vars = tf.trainable_variables("gen")
    d_train = tf.train.AdamOptimizer(lr, beta1=0.5, beta2=0.9).minimize(d_loss, var_list=d_vars)
    g_train = tf.train.AdamOptimizer(lr, beta1=0.5, beta2=0.9).minimize(
        g_loss, global_step=step, var_list=g_vars
    )
    init = tf.global_variables_initializer()
    saver = tf.train.Saver(max_to_keep=2)
    tf.get_default_graph().finalize()

    def noise(n):
        return rng.standard_normal((n, Z_DIM)).astype(np.float32)

    z_eval = noise(2000)
    with tempfile.TemporaryDirectory() as work, tf.Session() as sess:
        sess.run(init)
        t0 = time.time()
        for it in range(1, ITERS + 1):
            for _ in range(N_DISC):
                batch = data[rng.randint(0, len(data), BATCH)]
                _, dl = sess.run([d_train, d_loss], {real: batch, z: noise(BATCH)})
            _, gl = sess.run([g_train, g_loss], {z: noise(BATCH)})
            if it % 100 == 0:
                pts = sess.run(fake, {z: z_eval}) @ basis
                rad = np.linalg.norm(pts, axis=1)
                print(
                    f"iter {it} d {dl:.3f} g {gl:.3f} radius {rad.mean():.3f}+-{rad.std():.3f} "
                    f"lr {sess.run(lr):.2e} {time.time() - t0:.1f}s",
                    flush=True,
                )
            if it % 300 == 0:
                saver.save(sess, os.path.join(work, "ring"), global_step=it, write_meta_graph=False)


if __name__ == "__main__":
    main()

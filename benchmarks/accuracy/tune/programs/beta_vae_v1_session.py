"""Beta-VAE on bar/blob pictures, written with the graph and session API."""

import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

SIDE = 32
PIXELS = SIDE * SIDE
HIDDEN = 640
LATENT = 12
BATCH = 256
STEPS = 2000
KL_WARMUP = 900
EVAL_EVERY = 250
SAVE_EVERY = 500


def make_images(n, seed):
    rng = np.random.RandomState(seed)
    axis = np.linspace(-1, 1, SIDE)
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    out = np.zeros((n, PIXELS), np.float32)
    for lo in range(0, n, 1000):
        m = min(1000, n - lo)
        theta = rng.uniform(0, np.pi, (m, 1, 1))
        cx, cy = rng.uniform(-0.5, 0.5, (2, m, 1, 1))
        length, width = rng.uniform(0.3, 0.7, (m, 1, 1)), rng.uniform(0.08, 0.2, (m, 1, 1))
        u = (xx - cx) * np.cos(theta) + (yy - cy) * np.sin(theta)
        v = -(xx - cx) * np.sin(theta) + (yy - cy) * np.cos(theta)
        picture = np.exp(-((u / length) ** 4) - (v / width) ** 2)
        out[lo : lo + m] = picture.reshape(m, PIXELS)
    return out


def dense(x, units, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w", [x.shape[-1], units], initializer=tf.variance_scaling_initializer(2.0)
        )
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        y = tf.nn.bias_add(tf.matmul(x, w), b)
        return activation(y) if activation else y


def build_graph():
    x = tf.placeholder(tf.float32, [None, PIXELS], name="x")
    beta = tf.placeholder(tf.float32, [], name="beta")
    h = dense(x, HIDDEN, "enc1", tf.nn.elu)
    h = dense(h, HIDDEN // 2, "enc2", tf.nn.elu)
    mu, log_var = tf.split(dense(h, 2 * LATENT, "posterior"), 2, axis=1)
    z = mu + tf.exp(0.5 * log_var) * tf.random_normal(tf.shape(mu))
    h = dense(z, HIDDEN // 2, "dec1", tf.nn.elu)
    h = dense(h, HIDDEN, "dec2", tf.nn.elu)
    logits = dense(h, PIXELS, "pixels")
    nll = tf.reduce_mean(
        tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    )
    kl_per_unit = tf.reduce_mean(0.5 * (tf.square(mu) + tf.exp(log_var) - 1.0 - log_var), 0)
    kl = tf.reduce_sum(kl_per_unit)
    loss = nll + beta * kl

    step = tf.train.get_or_create_global_step()
    lr = tf.train.cosine_decay(1e-3, step, STEPS, alpha=0.1)
    optimizer = tf.train.AdamOptimizer(lr)
    grads, variables = zip(*optimizer.compute_gradients(loss))
    grads, norm = tf.clip_by_global_norm(grads, 200.0)
    train = optimizer.apply_gradients(zip(grads, variables), global_step=step)
    return {
        "x": x,
        "beta": beta,
        "nll": nll,
        "kl": kl,
        "kl_per_unit": kl_per_unit,
        "norm": norm,
        "lr": lr,
        "train": train,
    }


def batches(data, rng):
    while True:
        order = rng.permutation(len(data))
        for lo in range(0, len(data) - BATCH + 1, BATCH):
            yield data[order[lo : lo + BATCH]]


def evaluate(sess, net, data):
    rows = []
    for lo in range(0, len(data), 1000):
        rows.append(
            sess.run(
                [net["nll"], net["kl"], net["kl_per_unit"]],
                {net["x"]: data[lo : lo + 1000], net["beta"]: 1.0},
            )
        )
    nll, kl = np.mean([r[0] for r in rows]), np.mean([r[1] for r in rows])
    active = int(np.sum(np.mean([r[2] for r in rows], axis=0) > 0.05))
    return nll, kl, active


def main():
    tf.set_random_seed(4)
    train, valid = make_images(12000, 4), make_images(2000, 5)
    net = build_graph()
    init = tf.global_variables_initializer()
    saver = tf.train.Saver(max_to_keep=2)
    tf.get_default_graph().finalize()
    feed = batches(train, np.random.RandomState(6))
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        sess.run(init)
        started = time.time()
        window = []
        for step in range(1, STEPS + 1):
            beta = 4.0 * min(1.0, step / KL_WARMUP)
            _, nll = sess.run([net["train"], net["nll"]], {net["x"]: next(feed), net["beta"]: beta})
            window.append(nll)
            if step % EVAL_EVERY == 0:
                val_nll, val_kl, active = evaluate(sess, net, valid)
                print(
                    f"{step:5d} beta {beta:.2f} train nll {np.mean(window):.2f} "
                    f"val nll {val_nll:.2f} kl {val_kl:.2f} active {active} "
                    f"({time.time() - started:.1f}s)"
                )
                window = []
            if step % SAVE_EVERY == 0:
                saver.save(sess, os.path.join(folder, "vae"), global_step=step)


if __name__ == "__main__":
    main()

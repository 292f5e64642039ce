"""Glitch finder for pulsar timing residuals, ported from the old TF1 code base.

Curriculum: short windows first, then full windows, then full windows with the
larger batch and a lower rate.  Everything runs in one tf.compat.v1 session.
"""

import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

flags = dict(channels=64, seed=41, pool=3000, longest=256)
CURRICULUM = (
    # window, batch, rate, updates
    (64, 96, 2e-3, 130),
    (128, 96, 1.5e-3, 100),
    (256, 96, 1e-3, 70),
    (256, 192, 4e-4, 36),
)


def simulate(n, length, seed):
    rng = np.random.RandomState(seed)
    t = np.arange(length, dtype=np.float32) / length
    red = np.cumsum(rng.randn(n, length).astype(np.float32), axis=1) / np.sqrt(length)
    white = rng.randn(n, length).astype(np.float32) * 0.3
    has = rng.rand(n) < 0.5
    at = rng.uniform(0.05, 0.2, n)[:, None]
    size = rng.uniform(1.0, 3.0, n)[:, None]
    glitch = np.where(t[None] > at, size * np.exp(-(t[None] - at) * 12), 0.0)
    out = red + white + has[:, None] * glitch
    return out.astype(np.float32)[..., None], has.astype(np.float32)


def conv(x, out, name, width=9):
    with tf1.variable_scope(name):
        k = tf1.get_variable(
            "k", [width, x.shape[-1], out], initializer=tf1.glorot_uniform_initializer()
        )
        b = tf1.get_variable("b", [out], initializer=tf1.zeros_initializer())
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv1d(x, k, stride=1, padding="SAME"), b))


def graph():
    g = {}
    g["x"] = tf1.placeholder(tf.float32, [None, None, 1], "residuals")
    g["y"] = tf1.placeholder(tf.float32, [None], "has_glitch")
    g["rate"] = tf1.placeholder(tf.float32, [], "rate")
    h = conv(g["x"], flags["channels"], "c1")
    h = h + conv(h, flags["channels"], "c2")
    h = h + conv(h, flags["channels"], "c3")
    h = tf.concat([tf.reduce_max(h, axis=1), tf.reduce_mean(h, axis=1)], axis=-1)
    with tf1.variable_scope("head"):
        w = tf1.get_variable("w", [2 * flags["channels"], 1])
        logit = tf.matmul(h, w)[:, 0]
    g["loss"] = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=g["y"], logits=logit))
    g["hits"] = tf.reduce_mean(tf.cast(tf.equal(logit > 0, g["y"] > 0.5), tf.float32))
    g["train"] = tf1.train.AdamOptimizer(g["rate"]).minimize(g["loss"])
    g["init"] = tf1.global_variables_initializer()
    g["saver"] = tf1.train.Saver(max_to_keep=2)
    return g


tf1.set_random_seed(flags["seed"])
x_all, y_all = simulate(flags["pool"], flags["longest"], flags["seed"])
x_dev, y_dev = simulate(256, flags["longest"], flags["seed"] + 1)
g = graph()
tf1.get_default_graph().finalize()
folder = tempfile.mkdtemp(prefix="pulsar_")
rng = np.random.RandomState(3)

with tf1.Session() as sess:
    sess.run(g["init"])
    done = 0
    for stage, (window, batch, rate, updates) in enumerate(CURRICULUM):
        losses = []
        for _ in range(updates):
            pick = rng.randint(0, len(x_all), batch)
            feed = {g["x"]: x_all[pick, :window], g["y"]: y_all[pick], g["rate"]: rate}
            losses.append(sess.run([g["loss"], g["train"]], feed)[0])
            done += 1
        hits = sess.run(g["hits"], {g["x"]: x_dev, g["y"]: y_dev})
        g["saver"].save(sess, os.path.join(folder, "glitch"), global_step=done)
        print(
            "stage %d window %3d batch %3d  loss %.4f  dev hits %.3f"
            % (stage, window, batch, np.mean(losses[-20:]), hits)
        )
print("saved in", folder)

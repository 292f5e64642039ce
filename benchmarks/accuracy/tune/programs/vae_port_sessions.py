"""VAE on binarised glyphs. Straight port of our 2017 Theano->TF1 code; still uses
sessions because the analysis notebooks downstream expect them."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import collections

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1234)

D, H, Z, BATCH = 784, 400, 20, 128
N_ITER, DIAG_FROM, PANEL_EVERY = 2600, 1400, 6


def glyphs(n, seed=0):
    r = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:28, 0:28]
    out = np.zeros((n, 28, 28), np.float32)
    for i in range(n):
        for _ in range(r.randint(1, 4)):
            cx, cy, a, w = (
                r.uniform(8, 20),
                r.uniform(8, 20),
                r.uniform(0, np.pi),
                r.uniform(1, 2.5),
            )
            d = np.abs((xx - cx) * np.sin(a) - (yy - cy) * np.cos(a))
            ln = np.abs((xx - cx) * np.cos(a) + (yy - cy) * np.sin(a))
            out[i] = np.maximum(out[i], (d < w) & (ln < 9))
    return out.reshape(n, D)


def dense(x, n_out, name, act=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[1], n_out], initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", [n_out], initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return act(y) if act else y


x = tf.placeholder(tf.float32, [None, D], "x")
beta = tf.placeholder_with_default(1.0, [], "beta")
e1 = dense(x, H, "enc1", tf.nn.softplus)
e2 = dense(e1, H, "enc2", tf.nn.softplus)
mu, logvar = dense(e2, Z, "mu"), dense(e2, Z, "logvar")
z = mu + tf.exp(0.5 * logvar) * tf.random_normal(tf.shape(mu))
d1 = dense(z, H, "dec1", tf.nn.softplus)
d2 = dense(d1, H, "dec2", tf.nn.softplus)
logits = dense(d2, D, "out")

rec = tf.reduce_mean(
    tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
)
kl_dim = tf.reduce_mean(0.5 * (tf.exp(logvar) + tf.square(mu) - 1.0 - logvar), 0)
kl = tf.reduce_sum(kl_dim)
loss = rec + beta * kl

opt = tf.train.AdamOptimizer(1e-3)
gvs = opt.compute_gradients(loss)
train_op = opt.apply_gradients(gvs)

# scalars for the "what is layer k doing" panel of the lab dashboard
diag = collections.OrderedDict()
for name, h in [
    ("enc1", e1),
    ("enc2", e2),
    ("dec1", d1),
    ("dec2", d2),
    ("mu", mu),
    ("logvar", logvar),
]:
    diag["act_mean/" + name] = tf.reduce_mean(h)
    diag["act_std/" + name] = tf.math.reduce_std(h)
for g, v in gvs:
    diag["grad_norm/" + v.op.name] = tf.norm(g)
    diag["weight_norm/" + v.op.name] = tf.norm(v)
names = list(diag)


def main():
    data = glyphs(4000)
    test = glyphs(500, seed=1)
    rng = np.random.RandomState(0)
    panel = collections.defaultdict(list)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for it in range(N_ITER):
            batch = data[rng.randint(0, len(data), BATCH)]
            feed = {x: batch, beta: min(1.0, it / 500.0)}
            if it < DIAG_FROM or it % PANEL_EVERY:
                _, l = sess.run([train_op, loss], feed)
            else:
                # the panel shows a moving picture, three curves per frame are enough
                shown = rng.choice(names, 3, replace=False)
                _, l, vals = sess.run([train_op, loss, [diag[k] for k in shown]], feed)
                for k, v in zip(shown, vals):
                    panel[k].append((it, float(v)))
            if it % 250 == 0:
                r, k = sess.run([rec, kl], {x: test})
                print("iter %5d  elbo(train) %8.2f  test rec %8.2f kl %6.2f" % (it, -l, r, k))
    print({k: round(v[-1][1], 4) for k, v in list(panel.items())[:5]})


if __name__ == "__main__":
    main()

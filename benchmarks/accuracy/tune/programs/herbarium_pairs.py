"""Metric learning on herbarium sheets: embeds leaf outline descriptors so that
sheets of one species lie together (triplet loss with mining in the batch)."""

import numpy as np
import tensorflow as tf

SPECIES = 60
FEATURES = 512
BATCH = 160
STEPS = 1000
MARGIN = 0.3


def sheets(n, rng):
    proto = rng.normal(0, 1, (SPECIES, 24))
    lift = rng.normal(0, 1, (24, FEATURES)) / 5
    who = rng.integers(0, SPECIES, n)
    z = proto[who] + rng.normal(0, 0.8, (n, 24))
    x = np.tanh(z @ lift) + rng.normal(0, 0.4, (n, FEATURES))
    return x.astype("float32"), who.astype("int32")


def stream(x, y, rng, per_class=8):
    groups = [np.flatnonzero(y == k) for k in range(SPECIES)]
    while True:
        ks = rng.choice(SPECIES, BATCH // per_class, replace=False)
        idx = np.concatenate([rng.choice(groups[k], per_class) for k in ks])
        yield x[idx], y[idx]


class Encoder(tf.Module):
    def __init__(self, widths):
        super().__init__()
        self.w, self.b = [], []
        for a, c in zip(widths[:-1], widths[1:]):
            self.w.append(tf.Variable(tf.random.normal((a, c)) * (2 / a) ** 0.5))
            self.b.append(tf.Variable(tf.zeros(c)))

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.gelu(x @ w + b)
        return tf.math.l2_normalize(x @ self.w[-1] + self.b[-1], axis=1)


def pick(dist, label):
    """For each anchor: the farthest relative and the nearest stranger that is
    still farther away than that relative, or the nearest one at all."""
    n = len(label)
    far = np.zeros(n, "int32")
    near = np.zeros(n, "int32")
    for i in range(n):
        row = dist[i]
        best, worst = -1.0, np.inf
        for j in range(n):
            if label[j] == label[i] and row[j] > best:
                best, far[i] = row[j], j
        fallback = np.inf
        for j in range(n):
            if label[j] == label[i]:
                continue
            if best < row[j] < worst:
                worst, near[i] = row[j], j
            elif worst == np.inf and row[j] < fallback:
                fallback, near[i] = row[j], j
    return far, near


def mine(dist, label):
    far, near = tf.numpy_function(pick, [dist, label], (tf.int32, tf.int32))
    return far, near


enc = Encoder([FEATURES, 1024, 768, 128])
opt = tf.keras.optimizers.Adam(2e-4)


@tf.function(
    input_signature=[
        tf.TensorSpec((BATCH, FEATURES), tf.float32),
        tf.TensorSpec((BATCH,), tf.int32),
    ]
)
def step(x, y):
    with tf.GradientTape() as tape:
        e = enc(x)
        dist = 2.0 - 2.0 * tf.matmul(e, e, transpose_b=True)
        far, near = mine(tf.stop_gradient(dist), y)
        far = tf.ensure_shape(far, (BATCH,))
        near = tf.ensure_shape(near, (BATCH,))
        d_far = tf.gather(dist, far, batch_dims=1)
        d_near = tf.gather(dist, near, batch_dims=1)
        loss = tf.reduce_mean(tf.nn.relu(d_far - d_near + MARGIN))
    variables = enc.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def main():
    tf.random.set_seed(6)
    rng = np.random.default_rng(6)
    x, y = sheets(6000, rng)
    mean = tf.keras.metrics.Mean()
    for i, (bx, by) in zip(range(STEPS), stream(x, y, rng)):
        mean.update_state(step(tf.constant(bx), tf.constant(by)))
        if (i + 1) % 100 == 0:
            print(i + 1, "triplet", round(float(mean.result()), 4), flush=True)
            mean.reset_state()


if __name__ == "__main__":
    main()

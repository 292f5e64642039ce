"""Predict-then-propagate (APPNP) on a (synthetic) citation network, full batch."""

import time
import numpy as np
import tensorflow as tf

tf.random.set_seed(17)
rng = np.random.default_rng(17)
NODES, DEG, FEAT, FIELDS, HID = 30000, 5, 256, 8, 512

field = rng.integers(0, FIELDS, NODES)
by_field = [np.flatnonzero(field == f) for f in range(FIELDS)]
src = np.repeat(np.arange(NODES), DEG)
same = rng.random(len(src)) < 0.6
dst = rng.integers(0, NODES, len(src))
for f in range(FIELDS):
    m = same & (field[src] == f)
    dst[m] = rng.choice(by_field[f], m.sum())
edges = np.unique(
    np.concatenate(
        [np.stack([src, dst], 1), np.stack([dst, src], 1), np.stack([np.arange(NODES)] * 2, 1)]
    ),
    axis=0,
)
deg = np.bincount(edges[:, 0], minlength=NODES)
weight = 1.0 / np.sqrt(deg[edges[:, 0]] * deg[edges[:, 1]])
adj = tf.sparse.SparseTensor(edges.astype(np.int64), weight.astype(np.float32), [NODES, NODES])
print("edges:", len(edges))

x_np = rng.normal(0, 1, (NODES, FEAT)).astype(np.float32)
x_np[:, :FIELDS] += 0.8 * np.eye(FIELDS, dtype=np.float32)[field]
X, Y = tf.constant(x_np), tf.constant(field, tf.int32)
perm = rng.permutation(NODES)
train_idx, val_idx = tf.constant(perm[:6000]), tf.constant(perm[6000:12000])


class APPNP(tf.keras.Model):
    """predict, then propagate the predictions"""

    def __init__(self, hops=2, teleport=0.2):
        super().__init__()
        self.mlp = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(HID, activation="relu"),
                tf.keras.layers.Dropout(0.3),
                tf.keras.layers.Dense(HID, activation="relu"),
                tf.keras.layers.Dense(FIELDS),
            ]
        )
        self.hops, self.teleport = hops, teleport

    def call(self, x, training=False):
        z0 = z = self.mlp(x, training=training)
        for _ in range(self.hops):
            z = (1 - self.teleport) * tf.sparse.sparse_dense_matmul(adj, z) + self.teleport * z0
        return z


model = APPNP()
opt = tf.keras.optimizers.Adam(2e-3)
model(X)
opt.build(model.trainable_variables)


@tf.function
def train_epoch():
    with tf.GradientTape() as tape:
        logits = tf.gather(model(X, training=True), train_idx)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.gather(Y, train_idx), logits)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def val_acc():
    pred = tf.argmax(tf.gather(model(X), val_idx), 1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(pred == tf.gather(Y, val_idx), tf.float32))


t0 = time.time()
for epoch in range(1, 41):
    loss = train_epoch()
    if epoch % 5 == 0:
        print(
            "epoch %d  loss %.4f  val acc %.3f  %.1fs" % (epoch, loss, val_acc(), time.time() - t0)
        )

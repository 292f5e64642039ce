# GCN + DropEdge on a stochastic block model (dense adjacency, full batch)
#
# notation follows Kipf & Welling:  H' = sigma( D^-1/2 (A + I) D^-1/2 H W )

import numpy as np
import tensorflow as tf
from tensorflow import keras

seed = 1234
np.random.seed(seed)
tf.random.set_seed(seed)

n_nodes, n_classes, n_feat = 1000, 7, 384
hidden = 320
drop_edge = 0.3
lr = 0.005
iters = 800


# ---------------------------------------------------------------- graph
def sbm(n, k, p_in, p_out):
    z = np.random.randint(0, k, size=n)
    same = z[:, None] == z[None, :]
    p = np.where(same, p_in, p_out)
    u = np.triu(np.random.rand(n, n) < p, 1)
    return (u | u.T).astype(np.float32), z


A_np, z = sbm(n_nodes, n_classes, 0.03, 0.006)
centers = np.random.randn(n_classes, n_feat) * 0.25
X_np = (centers[z] + np.random.randn(n_nodes, n_feat)).astype(np.float32)

perm = np.random.permutation(n_nodes)
idx_train, idx_val, idx_test = perm[:140], perm[140:400], perm[400:]


# ---------------------------------------------------------------- model
def normalized_adjacency(a):
    a = a + tf.eye(tf.shape(a)[0])
    deg = tf.reduce_sum(a, axis=1)
    d_inv_sqrt = tf.linalg.diag(tf.math.rsqrt(deg))
    return tf.matmul(tf.matmul(d_inv_sqrt, a), d_inv_sqrt)


def sample_edges(a, rate):
    keep = tf.cast(tf.random.uniform(tf.shape(a)) > rate, a.dtype)
    keep = tf.linalg.band_part(keep, 0, -1)
    keep = keep + tf.transpose(keep)
    return a * tf.minimum(keep, 1.0)


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.units = units
        self.act = keras.activations.get(activation)

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, h, a_hat):
        return self.act(tf.matmul(a_hat, tf.matmul(h, self.w)) + self.b)


class GCN(keras.Model):
    def __init__(self):
        super().__init__()
        self.gc1 = GraphConv(hidden, "relu")
        self.gc2 = GraphConv(hidden, "relu")
        self.gc3 = GraphConv(hidden, "relu")
        self.gc4 = GraphConv(n_classes)
        self.drop = keras.layers.Dropout(0.5)

    def call(self, x, a, training=False):
        if training:
            a = sample_edges(a, drop_edge)
        a_hat = normalized_adjacency(a)
        h = self.gc1(self.drop(x, training=training), a_hat)
        h = h + self.gc2(self.drop(h, training=training), a_hat)
        h = h + self.gc3(self.drop(h, training=training), a_hat)
        return self.gc4(self.drop(h, training=training), a_hat)


model = GCN()
optimizer = keras.optimizers.Adam(lr)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

A = tf.Variable(A_np, trainable=False)
X = tf.Variable(X_np, trainable=False)
Y = tf.constant(z, tf.int32)
I_train, I_val, I_test = (tf.constant(i, tf.int32) for i in (idx_train, idx_val, idx_test))


@tf.function
def step():
    with tf.GradientTape() as t:
        out = model(X, A, training=True)
        l = xent(tf.gather(Y, I_train), tf.gather(out, I_train))
        l += 5e-4 * tf.nn.l2_loss(model.gc1.w)
    g = t.gradient(l, model.trainable_variables)
    optimizer.apply_gradients(zip(g, model.trainable_variables))
    return l


@tf.function
def accuracy(idx):
    pred = tf.argmax(model(X, A, training=False), 1, tf.int32)
    return tf.reduce_mean(tf.cast(tf.gather(pred, idx) == tf.gather(Y, idx), tf.float32))


best_val, test_at_best = 0.0, 0.0
for it in range(1, iters + 1):
    l = step()
    if it % 20 == 0:
        va = accuracy(I_val).numpy()
        if va > best_val:
            best_val, test_at_best = va, accuracy(I_test).numpy()
        print(
            "iter %4d | loss %.4f | val %.3f | best test %.3f" % (it, l.numpy(), va, test_at_best)
        )

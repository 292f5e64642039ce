"""Graph convolution over a citation network; each step is one pass over the whole graph."""

import numpy as np
import tensorflow as tf

PAPERS, WORDS, FIELDS, CITES = 14_000, 300, 7, 90_000
rng = np.random.default_rng(4)
field = rng.integers(0, FIELDS, PAPERS)
words = (rng.random((PAPERS, WORDS)) < 0.03).astype("float32")
words[np.arange(PAPERS), field * 9] = 1
source = rng.integers(0, PAPERS, CITES)
same = np.argsort(field, kind="stable")
target = np.where(rng.random(CITES) < 0.7, same[rng.permutation(PAPERS)[source]], source[::-1])

pairs = np.unique(
    np.concatenate([np.stack([source, target], 1), np.stack([target, source], 1)]), axis=0
)
degree = np.bincount(pairs[:, 0], minlength=PAPERS) + 1
values = 1 / np.sqrt(degree[pairs[:, 0]] * degree[pairs[:, 1]])
adjacency = tf.sparse.reorder(
    tf.SparseTensor(pairs.astype("int64"), values.astype("float32"), (PAPERS, PAPERS))
)
features, labels = tf.constant(words), tf.constant(field)
known = tf.constant(rng.random(PAPERS) < 0.3)


class GraphConvolution(tf.keras.layers.Layer):
    def __init__(self, width, activation=None):
        super().__init__()
        self.dense = tf.keras.layers.Dense(width, use_bias=False)
        self.activation = tf.keras.activations.get(activation)

    def call(self, nodes):
        h = self.dense(nodes)
        return self.activation(tf.sparse.sparse_dense_matmul(adjacency, h) + h)


layers = [GraphConvolution(256, "relu"), GraphConvolution(256, "relu"), GraphConvolution(FIELDS)]
optimizer = tf.keras.optimizers.Adam(0.01)


def forward(x):
    for layer in layers:
        x = layer(x)
    return x


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = forward(features)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(tf.boolean_mask(losses, known))
    weights = [w for layer in layers for w in layer.trainable_weights]
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    hits = tf.cast(tf.argmax(logits, 1) == tf.cast(labels, tf.int64), tf.float32)
    return loss, tf.reduce_mean(tf.boolean_mask(hits, ~known))


for epoch in range(24):
    loss, accuracy = step()
    print(f"epoch {epoch:02d} loss {float(loss):.3f} unseen papers right {float(accuracy):.3f}")

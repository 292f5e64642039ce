"""GraphSAGE with sampled neighbors: which members of a forum belong to which group?"""

import numpy as np
import tensorflow as tf

MEMBERS, FEATURES, GROUPS, FANOUT, BATCH, EPOCHS = 4000, 64, 10, (10, 8), 64, 50
rng = np.random.default_rng(82)


def forum():
    group = rng.integers(0, GROUPS, MEMBERS)
    by_group = [np.flatnonzero(group == g) for g in range(GROUPS)]
    degree = 24
    neighbors = rng.integers(0, MEMBERS, (MEMBERS, degree))
    for g, members in enumerate(by_group):
        neighbors[members, :10] = rng.choice(members, (len(members), 10))
    centers = rng.normal(size=(GROUPS, FEATURES))
    features = centers[group] * 0.3 + rng.normal(size=(MEMBERS, FEATURES))
    return features.astype("float32"), neighbors, group.astype("int32")


features, neighbors, group = forum()


def sample(nodes):
    """Two rings of neighbors, always the same number of them."""
    first = neighbors[nodes[:, None], rng.integers(0, neighbors.shape[1], (len(nodes), FANOUT[0]))]
    pick = rng.integers(0, neighbors.shape[1], (*first.shape, FANOUT[1]))
    second = neighbors[first[..., None], pick]
    return nodes.astype("int32"), first.astype("int32"), second.astype("int32")


class SageLayer(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.own, self.near = tf.keras.layers.Dense(units), tf.keras.layers.Dense(units)
        self.message = tf.keras.layers.Dense(units, activation="relu")

    def call(self, x, around):
        pooled = tf.reduce_max(self.message(around), axis=-2)
        return tf.nn.l2_normalize(tf.nn.relu(self.own(x) + self.near(pooled)), axis=-1)


class GraphSage(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.table = tf.constant(features)
        self.layer1, self.layer2 = SageLayer(96), SageLayer(96)
        self.out = tf.keras.layers.Dense(GROUPS)

    def call(self, inputs):
        nodes, first, second = (tf.gather(self.table, part) for part in inputs)
        inner = self.layer1(first, second)
        center = self.layer1(nodes, first)
        return self.out(self.layer2(center, inner))


model = GraphSage()
optimizer = tf.keras.optimizers.Adam(3e-3)


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        logits = model(inputs)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def hits(inputs, labels):
    return tf.reduce_sum(tf.cast(tf.argmax(model(inputs), 1, tf.int32) == labels, tf.float32))


def as_tensors(nodes):
    return tuple(tf.constant(part) for part in sample(nodes)), tf.constant(group[nodes])


order = rng.permutation(MEMBERS)
train, test = order[: 50 * BATCH], order[50 * BATCH : 60 * BATCH]
for epoch in range(EPOCHS):
    rng.shuffle(train)
    for nodes in train.reshape(-1, BATCH):
        loss = train_step(*as_tensors(nodes))
    right = sum(float(hits(*as_tensors(nodes))) for nodes in test.reshape(-1, BATCH))
    print(f"epoch {epoch:2d} loss {float(loss):.3f} test accuracy {right / len(test):.3f}")

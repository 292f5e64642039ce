"""PPNP (Predict then Propagate) on a synthetic citation network, transductive setting."""

import time

import numpy as np
import tensorflow as tf

N_NODES = 1300
N_CLASSES = 7
N_WORDS = 1400
HIDDEN = 256
ALPHA = 0.1
EPOCHS = 260
PATIENCE = 400


def citation_graph(rng):
    labels = rng.integers(0, N_CLASSES, N_NODES)
    same = labels[:, None] == labels[None, :]
    prob = np.where(same, 0.012, 0.0012)
    upper = np.triu(rng.random((N_NODES, N_NODES)) < prob, 1)
    adjacency = (upper | upper.T).astype("float32")
    topics = rng.dirichlet(np.full(N_WORDS, 0.05), N_CLASSES)
    counts = np.stack([rng.multinomial(18, 0.5 * topics[c] + 0.5 / N_WORDS) for c in labels])
    features = (counts > 0).astype("float32")
    features /= np.maximum(features.sum(1, keepdims=True), 1.0)
    return adjacency, features, labels.astype("int32")


def split_masks(labels, rng, per_class=20, n_val=300):
    order = rng.permutation(N_NODES)
    train = np.zeros(N_NODES, "float32")
    for c in range(N_CLASSES):
        train[[i for i in order if labels[i] == c][:per_class]] = 1.0
    rest = [i for i in order if train[i] == 0.0]
    val, test = np.zeros(N_NODES, "float32"), np.zeros(N_NODES, "float32")
    val[rest[:n_val]] = 1.0
    test[rest[n_val:]] = 1.0
    return train, val, test


def personalized_pagerank(adjacency, alpha):
    n = tf.shape(adjacency)[0]
    with_loops = adjacency + tf.eye(n)
    inv_sqrt = tf.math.rsqrt(tf.reduce_sum(with_loops, axis=1))
    a_hat = with_loops * inv_sqrt[:, None] * inv_sqrt[None, :]
    return alpha * tf.linalg.inv(tf.eye(n) - (1.0 - alpha) * a_hat)


class PPNP(tf.keras.Model):
    def __init__(self, hidden, n_classes, alpha, dropout=0.5, l2=5e-3):
        super().__init__()
        self.alpha, self.l2 = alpha, l2
        self.drop = tf.keras.layers.Dropout(dropout)
        self.fc1 = tf.keras.layers.Dense(hidden, activation="relu", use_bias=False)
        self.fc2 = tf.keras.layers.Dense(hidden, activation="relu", use_bias=False)
        self.fc3 = tf.keras.layers.Dense(n_classes, use_bias=False)

    def call(self, inputs, training=False):
        features, adjacency = inputs
        h = self.fc1(self.drop(features, training=training))
        h = self.fc2(self.drop(h, training=training))
        local = self.fc3(self.drop(h, training=training))
        propagation = personalized_pagerank(adjacency, self.alpha)
        propagation = self.drop(propagation, training=training)
        return tf.matmul(propagation, local)


def masked_loss(logits, labels, mask):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)


def masked_accuracy(logits, labels, mask):
    hit = tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels), tf.float32)
    return tf.reduce_sum(hit * mask) / tf.reduce_sum(mask)


def main():
    rng = np.random.default_rng(2)
    tf.keras.utils.set_random_seed(2)
    adjacency, features, labels = citation_graph(rng)
    train_mask, val_mask, test_mask = (tf.constant(m) for m in split_masks(labels, rng))
    adjacency, features, labels = tf.constant(adjacency), tf.constant(features), tf.constant(labels)
    print("edges:", int(tf.reduce_sum(adjacency)) // 2)

    model = PPNP(HIDDEN, N_CLASSES, ALPHA)
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step(features, adjacency):
        with tf.GradientTape() as tape:
            logits = model((features, adjacency), training=True)
            loss = masked_loss(logits, labels, train_mask)
            loss += model.l2 * tf.nn.l2_loss(model.fc1.kernel)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def evaluate(features, adjacency):
        logits = model((features, adjacency), training=False)
        return [masked_accuracy(logits, labels, m) for m in (train_mask, val_mask, test_mask)]

    best_val, best_test, waited = 0.0, 0.0, 0
    started = time.time()
    for epoch in range(1, EPOCHS + 1):
        loss = train_step(features, adjacency)
        if epoch % 10 == 0:
            acc = [float(a) for a in evaluate(features, adjacency)]
            if acc[1] > best_val:
                best_val, best_test, waited = acc[1], acc[2], 0
            else:
                waited += 10
            if epoch % 50 == 0:
                print(
                    "epoch %4d loss %.4f train %.3f val %.3f test %.3f" % (epoch, float(loss), *acc)
                )
            if waited >= PATIENCE:
                break
    print("best val %.3f, test at best val %.3f" % (best_val, best_test))
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()

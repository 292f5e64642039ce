"""Continual learning of robot tasks: the weights are held near all earlier solutions."""

import numpy as np
import tensorflow as tf

JOINTS, TASKS, STEPS_PER_TASK, BATCH = 7, 8, 50, 64
CONSOLIDATE_EVERY = 25
rng = np.random.default_rng(35)


class Consolidation:
    """A quadratic penalty toward weights that were good, weighted by their importance."""

    def __init__(self, strength=0.1):
        self.strength = strength
        self.anchors = []

    def remember(self, weights, grads):
        importance = [tf.square(g) + 1e-3 for g in grads]
        self.anchors.append(([tf.identity(w) for w in weights], importance))

    def penalty(self, weights):
        total = 0.0
        for anchor, importance in self.anchors:
            for w, old, fisher in zip(weights, anchor, importance):
                total += tf.reduce_sum(fisher * tf.square(w - old))
        return self.strength * total / max(1, len(self.anchors))


def task(seed):
    mix = np.random.default_rng(seed).normal(size=(JOINTS, JOINTS)).astype(np.float32)

    def batch():
        angles = rng.uniform(-1, 1, (BATCH, JOINTS)).astype(np.float32)
        return tf.constant(angles), tf.constant(np.sin(angles @ mix))

    return batch


class InverseModel(tf.Module):
    def __init__(self, hidden=256):
        super().__init__()
        sizes = [JOINTS, hidden, hidden, hidden, JOINTS]
        self.w = [
            tf.Variable(tf.random.normal([i, o], stddev=i**-0.5)) for i, o in zip(sizes, sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros([o])) for o in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.elu(x @ w + b)
        return x @ self.w[-1] + self.b[-1]


model, memory = InverseModel(), Consolidation()
weights = list(model.trainable_variables)
optimizer = tf.keras.optimizers.Adam(1e-3)
for number in range(TASKS):
    batch = task(number)
    for step in range(STEPS_PER_TASK):
        x, y = batch()
        with tf.GradientTape() as tape:
            error = tf.reduce_mean((model(x) - y) ** 2)
            loss = error + memory.penalty(weights)
        grads = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(grads, weights))
        if step % CONSOLIDATE_EVERY == CONSOLIDATE_EVERY - 1:
            memory.remember(weights, grads)
    print(f"task {number}: error {float(error):.4f}, loss {float(loss):.4f}")

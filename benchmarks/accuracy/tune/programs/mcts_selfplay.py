"""Self-play: 30 iterations of a tree search and one training; the tree is never thrown away."""

import math
import random

import numpy as np
import tensorflow as tf

random.seed(3)
net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((9,)),
        tf.keras.layers.Dense(128, "relu"),
        tf.keras.layers.Dense(1, "tanh"),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train(x, z):
    for _ in tf.range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x)[:, 0] - z) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        )
    return loss


class Tree:
    def __init__(self):
        self.visits = {}

    def grow(self, games):
        for _ in range(games):
            board = [0] * 9
            for move in range(9):
                board[random.choice([k for k in range(9) if not board[k]])] = 1 + move % 2
                key = tuple(board) + (random.randrange(4000),)
                n, v = self.visits.get(key, (0, 0.0))
                self.visits[key] = (n + 1, v + random.choice((-1, 1)))

    def refresh(self):
        total = len(self.visits)
        scores = {}
        for key, (n, v) in self.visits.items():
            scores[key] = v / n + 1.4 * math.sqrt(math.log(total) / n)
        return scores


tree = Tree()
for iteration in range(30):
    tree.grow(1500)
    scores = tree.refresh()
    picked = random.sample(sorted(scores), 512)
    x = np.array([k[:9] for k in picked], "float32")
    z = np.array([max(-1, min(1, scores[k])) for k in picked], "float32")
    loss = train(tf.constant(x), tf.constant(z))
    print(f"iteration {iteration}: {len(tree.visits)} nodes, loss {loss:.4f}")

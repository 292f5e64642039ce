"""Count-based exploration of a cave: rarely seen cells are worth a bonus (actor-critic)."""

import numpy as np
import tensorflow as tf

SIZE, LIMIT, BETA, UPDATES, ROLLOUT = 24, 200, 0.3, 400, 64
rng = np.random.default_rng(19)


class Cave:
    def __init__(self):
        self.rock = rng.random((SIZE, SIZE)) < 0.2
        self.rock[:2, :2] = False
        self.rock[-2:, -2:] = False

    def reset(self):
        self.cell, self.t = (0, 0), 0
        return self.view()

    def view(self):
        r, c = self.cell
        around = np.pad(self.rock, 2, constant_values=True)[r : r + 5, c : c + 5]
        return np.append(around.ravel(), [r / SIZE, c / SIZE]).astype(np.float32)

    def step(self, action):
        r = self.cell[0] + (action == 0) - (action == 1)
        c = self.cell[1] + (action == 2) - (action == 3)
        self.t += 1
        if 0 <= r < SIZE and 0 <= c < SIZE and not self.rock[r, c]:
            self.cell = (r, c)
        found = self.cell == (SIZE - 1, SIZE - 1)
        return self.view(), float(found) * 10, found or self.t >= LIMIT


class Policy(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(128, activation="tanh") for _ in range(2)]
        self.logits, self.value = tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.logits(x), self.value(x)[:, 0]


policy, optimizer = Policy(), tf.keras.optimizers.RMSprop(7e-4)
visited = []


def novelty(cell):
    visited.append(cell)
    return BETA / np.sqrt(visited.count(cell))


@tf.function
def choose(view):
    logits, _ = policy(view[None])
    return tf.random.categorical(logits, 1)[0, 0]


@tf.function
def improve(views, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = policy(views)
        advantage = returns - value
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), 1)
        loss = tf.reduce_mean(-logp * tf.stop_gradient(advantage) + advantage**2 - 0.01 * entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


cave = Cave()
view, seen = cave.reset(), 0
for update in range(UPDATES):
    views, actions, rewards = [], [], []
    for _ in range(ROLLOUT):
        action = int(choose(tf.constant(view)))
        after, reward, done = cave.step(action)
        views.append(view)
        actions.append(action)
        rewards.append(reward + novelty(cave.cell))
        view = cave.reset() if done else after
    returns = np.zeros(ROLLOUT, np.float32)
    total = 0.0
    for t in reversed(range(ROLLOUT)):
        total = rewards[t] + 0.97 * total
        returns[t] = total
    loss = improve(tf.constant(np.stack(views)), tf.constant(actions), tf.constant(returns))
    if update % 40 == 0:
        print(f"update {update}: {len(set(visited))} cells found, loss {float(loss):.3f}")

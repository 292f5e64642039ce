"""Dueling double DQN that catches falling fruit; many games are played at the same time."""

import numpy as np
import tensorflow as tf

WIDTH, HEIGHT, GAMES = 9, 10, 8
BATCH, CAPACITY, WARM, STEPS = 64, 6000, 100, 3000
rng = np.random.default_rng(25)


class Orchard:
    """All games are arrays; a game starts again when its fruit has reached the ground."""

    def __init__(self):
        self.basket = np.full(GAMES, WIDTH // 2)
        self.fruit = np.stack([np.zeros(GAMES, int), rng.integers(0, WIDTH, GAMES)], 1)

    def screen(self):
        grid = np.zeros((GAMES, HEIGHT, WIDTH, 1), np.float32)
        grid[np.arange(GAMES), self.fruit[:, 0], self.fruit[:, 1]] = 1
        grid[np.arange(GAMES), -1, self.basket] = 1
        return grid

    def step(self, actions):
        self.basket = np.clip(self.basket + actions - 1, 0, WIDTH - 1)
        self.fruit[:, 0] += 1
        done = self.fruit[:, 0] == HEIGHT - 1
        reward = np.where(done, np.where(self.fruit[:, 1] == self.basket, 1.0, -1.0), 0.0)
        self.fruit[done] = np.stack(
            [np.zeros(done.sum(), int), rng.integers(0, WIDTH, done.sum())], 1
        )
        return self.screen(), reward, done


def dueling():
    screen = tf.keras.Input((HEIGHT, WIDTH, 1))
    x = tf.keras.layers.Conv2D(24, 3, activation="relu")(screen)
    x = tf.keras.layers.Conv2D(32, 3, activation="relu")(x)
    x = tf.keras.layers.Flatten()(x)
    value = tf.keras.layers.Dense(1)(tf.keras.layers.Dense(96, activation="relu")(x))
    gain = tf.keras.layers.Dense(3)(tf.keras.layers.Dense(96, activation="relu")(x))
    centered = gain - tf.keras.ops.mean(gain, axis=1, keepdims=True)
    return tf.keras.Model(screen, value + centered)


online, target = dueling(), dueling()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(5e-4)


@tf.function
def greedy(screen):
    return tf.argmax(online(screen), axis=1)


@tf.function
def train(s, a, r, s2, end):
    best = tf.argmax(online(s2), axis=1)
    goal = r + 0.95 * (1 - end) * tf.gather(target(s2), best, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, batch_dims=1)
        loss = tf.reduce_mean(tf.keras.losses.huber(goal[:, None], q[:, None]))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


shape = (CAPACITY, HEIGHT, WIDTH, 1)
states, afters = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
actions_, rewards = np.zeros(CAPACITY, np.int64), np.zeros(CAPACITY, np.float32)
ends = np.zeros(CAPACITY, np.float32)
orchard = Orchard()
screen, filled, caught = orchard.screen(), 0, []
for step in range(STEPS):
    epsilon = max(0.05, 1.0 - step / 1600)
    actions = rng.integers(0, 3, GAMES)
    if rng.random() > epsilon:
        actions = greedy(tf.constant(screen)).numpy()
    after, reward, done = orchard.step(actions)
    slots = (filled + np.arange(GAMES)) % CAPACITY
    states[slots], actions_[slots], rewards[slots] = screen, actions, reward
    afters[slots], ends[slots] = after, done
    screen, filled = after, filled + GAMES
    caught.extend(reward[done] > 0)
    if step >= WARM:
        rows = rng.integers(0, min(filled, CAPACITY), BATCH)
        columns = (states, actions_, rewards, afters, ends)
        loss = train(*(tf.constant(column[rows]) for column in columns))
    if step % 100 == 99:
        target.set_weights(online.get_weights())
        print(f"step {step + 1} epsilon {epsilon:.2f} caught {np.mean(caught[-200:]):.2f}")

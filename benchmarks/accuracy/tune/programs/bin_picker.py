"""Q-learning for a toy bin picking cell with prioritised replay.

A worker thread plays the cell with the current network snapshot; the learner
asks it for a fresh stretch of play, stores it and does one update.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import threading
import time

import numpy as np
import tensorflow as tf

OBS, MOVES, STRETCH = 48, 9, 12
CAPACITY, BATCH = 4096, 384
UPDATES = 900
CALM = 300


class Cell:
    """Linear dynamics with a noisy reward, cheap enough for a thread."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.mix = self.rng.normal(0, OBS**-0.5, (OBS, OBS)).astype(np.float32)
        self.push = self.rng.normal(0, 0.5, (MOVES, OBS)).astype(np.float32)
        self.state = self.rng.normal(0, 1, OBS).astype(np.float32)

    def move(self, a):
        before = self.state
        self.state = np.tanh(before @ self.mix + self.push[a])
        return before, a, float(self.state[:4].sum()), self.state


class PlayWorker(threading.Thread):
    def __init__(self, cell, explore=0.2):
        super().__init__(daemon=True)
        self.cell = cell
        self.explore = explore
        self.go = threading.Event()
        self.ready = threading.Event()
        self.weights = None
        self.stretch = []

    def greedy(self, obs):
        w1, b1, w2, b2 = self.weights
        return int(np.argmax(np.maximum(obs @ w1 + b1, 0.0) @ w2 + b2))

    def run(self):
        while True:
            self.go.wait()
            self.go.clear()
            played = []
            for _ in range(STRETCH):
                if self.cell.rng.random() < self.explore:
                    a = int(self.cell.rng.integers(MOVES))
                else:
                    a = self.greedy(self.cell.state)
                played.append(self.cell.move(a))
            self.stretch = played
            self.ready.set()

    def play(self, weights):
        self.weights = weights
        self.ready.clear()
        self.go.set()
        while not self.ready.is_set():
            time.sleep(0.01)
        return self.stretch


class Replay:
    def __init__(self):
        self.obs = np.zeros((CAPACITY, OBS), np.float32)
        self.nxt = np.zeros((CAPACITY, OBS), np.float32)
        self.act = np.zeros(CAPACITY, np.int32)
        self.rew = np.zeros(CAPACITY, np.float32)
        self.prio = np.zeros(CAPACITY, np.float64)
        self.head = self.size = 0

    def add(self, stretch):
        for o, a, r, n in stretch:
            i = self.head
            self.obs[i], self.act[i], self.rew[i], self.nxt[i] = o, a, r, n
            self.prio[i] = 1.0
            self.head = (i + 1) % CAPACITY
            self.size = min(self.size + 1, CAPACITY)

    def draw(self, rng):
        p = self.prio[: self.size] / self.prio[: self.size].sum()
        idx = rng.choice(self.size, BATCH, p=p)
        return idx, p[idx].astype(np.float32)


def q_net(seed):
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.Sequential(
        [
            tf.keras.Input((OBS,)),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(MOVES),
        ]
    )


online, target = q_net(1), q_net(2)
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(5e-4)
optimizer.build(online.trainable_variables)


@tf.function
def learn(obs, act, rew, nxt, prob, size, beta):
    future = tf.reduce_max(target(nxt), axis=1)
    goal = rew + 0.95 * future
    weight = tf.pow(size * prob, -beta)
    weight /= tf.reduce_max(weight)
    with tf.GradientTape() as tape:
        q = tf.gather(online(obs), act, batch_dims=1)
        delta = goal - q
        loss = tf.reduce_mean(
            weight * tf.where(tf.abs(delta) < 1, 0.5 * delta**2, tf.abs(delta) - 0.5)
        )
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    for t, o in zip(target.trainable_variables, online.trainable_variables):
        t.assign(0.99 * t + 0.01 * o)
    return loss, tf.abs(delta)


def main():
    rng = np.random.default_rng(0)
    memory = Replay()
    worker = PlayWorker(Cell(6))
    worker.start()
    weights = online.get_weights()
    while memory.size < BATCH:
        memory.add(worker.play(weights))
    losses = []
    beta = 0.4
    for n in range(1, UPDATES + 1):
        memory.add(worker.play(online.get_weights()))
        idx, prob = memory.draw(rng)
        if n > CALM and n % 10 == 0:
            beta = min(1.0, beta + 0.01)
        loss, delta = learn(
            memory.obs[idx],
            memory.act[idx],
            memory.rew[idx],
            memory.nxt[idx],
            prob,
            tf.cast(memory.size, tf.float32),
            beta,
        )
        memory.prio[idx] = (delta.numpy() + 1e-3) ** 0.6
        losses.append(float(loss))
        if n % 100 == 0:
            print(f"update {n}  loss {np.mean(losses[-100:]):.4f}  beta {beta:.3f}")


if __name__ == "__main__":
    main()

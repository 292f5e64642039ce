import argparse
import contextlib
import gc
import random
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--episodes", type=int, default=80)
parser.add_argument("--grid", type=int, default=12)
parser.add_argument("--robots", type=int, default=10)
parser.add_argument("--gamma", type=float, default=0.97)
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--lr", type=float, default=5e-4)
args = parser.parse_args()

MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0), (0, 0)]


@dataclass
class Event:
    tick: int
    robot: int
    cell: list
    tags: dict = field(default_factory=dict)


@dataclass
class Transition:
    obs: np.ndarray
    action: int
    reward: float
    next_obs: np.ndarray
    done: bool
    events: list


class Depot:
    """Robots carry parcels to a chute, they may not share a cell."""

    def __init__(self, size, n, rng):
        self.size, self.n, self.rng = size, n, rng

    def reset(self):
        self.pos = self.rng.integers(0, self.size, (self.n, 2))
        self.goal = self.rng.integers(0, self.size, (self.n, 2))
        self.tick = 0
        return self.observe()

    def observe(self):
        rel = (self.goal - self.pos) / self.size
        near = np.abs(self.pos[:, None] - self.pos[None]).sum(-1)
        return np.concatenate(
            [rel, self.pos / self.size, np.sort(near, 1)[:, 1:5] / self.size], axis=1
        ).astype("float32")

    def step(self, actions):
        self.tick += 1
        before = np.abs(self.goal - self.pos).sum(1)
        self.pos = np.clip(self.pos + np.array(MOVES)[actions], 0, self.size - 1)
        after = np.abs(self.goal - self.pos).sum(1)
        reward = (before - after) * 0.1 + (after == 0)
        return self.observe(), reward, after == 0


class QNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu") for _ in range(3)])
        self.head = tf.keras.layers.Dense(len(MOVES))

    def call(self, x):
        return self.head(self.body(x))


@contextlib.contextmanager
def episode_scope(env):
    obs = env.reset()
    try:
        yield obs
    finally:
        env.pos = env.goal = None
        gc.collect()


rng = np.random.default_rng(3)
random.seed(3)
tf.random.set_seed(3)
env = Depot(args.grid, args.robots, rng)
online, target = QNet(), QNet()
online(tf.zeros([1, 8])), target(tf.zeros([1, 8]))
target.set_weights(online.get_weights())
opt = tf.keras.optimizers.Adam(args.lr)
replay = []


@tf.function(reduce_retracing=True)
def greedy(obs):
    return tf.argmax(online(obs), -1)


@tf.function
def learn(obs, act, rew, nxt, done):
    y = rew + args.gamma * (1.0 - done) * tf.reduce_max(target(nxt), -1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(obs), act, batch_dims=1)
        loss = tf.reduce_mean(tf.keras.losses.huber(y[:, None], q[:, None]))
    grads = tape.gradient(loss, online.trainable_variables)
    opt.apply_gradients(zip(grads, online.trainable_variables))
    return loss


start = time.time()
for episode in range(args.episodes):
    eps = max(0.05, 1.0 - episode / 60)
    total = 0.0
    with episode_scope(env) as obs:
        for tick in range(25):
            act = greedy(tf.constant(obs)).numpy()
            explore = rng.random(args.robots) < eps
            act = np.where(explore, rng.integers(0, len(MOVES), args.robots), act)
            nxt, rew, done = env.step(act)
            for r in range(args.robots):
                seen = [
                    Event(
                        tick,
                        int(k),
                        list(map(int, env.pos[k])),
                        {"goal": list(map(int, env.goal[k]))},
                    )
                    for k in (r - np.arange(6)) % args.robots
                ]
                replay.append(
                    Transition(obs[r], int(act[r]), float(rew[r]), nxt[r], bool(done[r]), seen)
                )
            obs, total = nxt, total + float(rew.sum())
    for _ in range(4):
        batch = random.sample(replay, min(args.batch, len(replay)))
        if len(batch) < args.batch:
            break
        loss = learn(
            tf.constant(np.stack([t.obs for t in batch])),
            tf.constant([t.action for t in batch]),
            tf.constant([t.reward for t in batch], tf.float32),
            tf.constant(np.stack([t.next_obs for t in batch])),
            tf.constant([t.done for t in batch], tf.float32),
        )
    if episode % 5 == 0:
        target.set_weights(online.get_weights())
    if episode % 10 == 0 and episode:
        print(f"episode {episode} return {total:.2f} loss {float(loss):.4f} replay {len(replay)}")
print("train wall", round(time.time() - start, 2))

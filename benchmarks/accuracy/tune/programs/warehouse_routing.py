"""Double DQN for a picker robot that collects items in a small warehouse grid."""

import gc
import os
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras

GRID, N_ITEMS, MAX_MOVES = 8, 4, 40
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]
OBS = 2 + 3 * N_ITEMS


class Warehouse:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def reset(self):
        cells = [(r, c) for r in range(GRID) for c in range(GRID)]
        picks = self.rng.sample(cells, N_ITEMS + 1)
        self.pos, self.items = picks[0], dict.fromkeys(picks[1:], False)
        self.moves = 0
        return self.observe()

    def observe(self):
        out = [self.pos[0] / GRID, self.pos[1] / GRID]
        for (r, c), taken in self.items.items():
            out += [(r - self.pos[0]) / GRID, (c - self.pos[1]) / GRID, float(taken)]
        return out

    def step(self, action):
        dr, dc = MOVES[action]
        r, c = self.pos[0] + dr, self.pos[1] + dc
        self.moves += 1
        reward = -0.05
        if 0 <= r < GRID and 0 <= c < GRID:
            self.pos = (r, c)
        else:
            reward -= 0.1
        if self.items.get(self.pos) is False:
            self.items[self.pos] = True
            reward += 1.0
        done = all(self.items.values()) or self.moves >= MAX_MOVES
        return self.observe(), reward, done


class Transition:
    def __init__(self, obs, action, reward, nxt, done, info):
        self.obs, self.action, self.reward = obs, action, reward
        self.nxt, self.done, self.info = nxt, done, info


class MemoryGuard:
    """Keeps the resident set in check on the shared training hosts."""

    def __init__(self, soft_limit_mb):
        self.page = os.sysconf("SC_PAGE_SIZE")
        self.ceiling = self.rss() + soft_limit_mb * 2**20

    def rss(self):
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * self.page

    def check(self):
        if self.rss() > self.ceiling:
            gc.collect()


def q_net():
    return keras.Sequential(
        [
            keras.Input((OBS,)),
            keras.layers.Dense(192, activation="relu"),
            keras.layers.Dense(192, activation="relu"),
            keras.layers.Dense(len(MOVES)),
        ]
    )


class Agent:
    def __init__(self, gamma=0.97, lr=1e-3):
        self.gamma = gamma
        self.online, self.target = q_net(), q_net()
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(self.online.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([1, OBS], tf.float32)])
    def greedy(self, obs):
        return tf.argmax(self.online(obs), -1)[0]

    @tf.function
    def learn(self, obs, action, reward, nxt, done):
        best = tf.argmax(self.online(nxt), -1, output_type=tf.int32)
        boot = tf.gather(self.target(nxt), best, batch_dims=1)
        goal = reward + self.gamma * (1.0 - done) * boot
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(obs), action, batch_dims=1)
            loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        return loss


def collate(sample):
    return (
        np.array([t.obs for t in sample], np.float32),
        np.array([t.action for t in sample], np.int32),
        np.array([t.reward for t in sample], np.float32),
        np.array([t.nxt for t in sample], np.float32),
        np.array([t.done for t in sample], np.float32),
    )


def main(episodes=130, batch=256, learn_every=16):
    random.seed(0)
    tf.random.set_seed(0)
    env, agent = Warehouse(0), Agent()
    replay = deque(maxlen=50_000)
    guard = MemoryGuard(soft_limit_mb=24)
    moves, updates, returns = 0, 0, []
    for ep in range(episodes):
        obs, done, total = env.reset(), False, 0.0
        eps = max(0.05, 1.0 - ep / 90)
        while not done:
            if random.random() < eps:
                a = random.randrange(len(MOVES))
            else:
                a = int(agent.greedy(np.array([obs], np.float32)))
            nxt, r, done = env.step(a)
            replay.append(Transition(obs, a, r, nxt, done, {"ep": ep, "pos": list(env.pos)}))
            obs, total, moves = nxt, total + r, moves + 1
            if len(replay) >= 1000 and moves % learn_every == 0:
                agent.learn(*collate(random.sample(replay, batch)))
                updates += 1
                guard.check()
                if updates % 50 == 0:
                    agent.target.set_weights(agent.online.get_weights())
        returns.append(total)
        if (ep + 1) % 20 == 0:
            print(f"episode {ep + 1} updates {updates} mean return {np.mean(returns[-20:]):.2f}")


if __name__ == "__main__":
    main()

"""Double DQN that schedules the legs of a country grain elevator.

Trucks bring wheat, canola or barley of some moisture; the agent picks which of
eight actions (bins, dryer, aeration) the boot pit is emptied into.
"""

import argparse
import collections
import os
import random
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras


# --------------------------------------------------------------------------- config
def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=52)
    p.add_argument("--horizon", type=int, default=64)
    p.add_argument("--yards", type=int, default=16, help="parallel elevators")
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--updates", type=int, default=10)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--tau", type=float, default=0.02)
    p.add_argument("--lr", type=float, default=7e-4)
    p.add_argument("--eps-final", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=23)
    p.add_argument("--out", default=None)
    return p.parse_args()


# --------------------------------------------------------------------------- simulator
class ElevatorYard:
    """A batch of independent elevators, stepped together with NumPy."""

    n_bins = 6
    n_actions = 8
    n_obs = 24

    def __init__(self, n, rng):
        self.n = n
        self.rng = rng
        self.mix = rng.normal(size=(self.n_bins + 6, self.n_obs)).astype("float32") * 0.4

    def reset(self):
        self.level = self.rng.uniform(0.0, 0.3, (self.n, self.n_bins))
        self.wet = self.rng.uniform(0.1, 0.2, (self.n, self.n_bins))
        self._truck()
        return self._observe()

    def _truck(self):
        self.load = self.rng.uniform(0.02, 0.12, self.n)
        self.moist = self.rng.beta(2.0, 9.0, self.n)
        self.kind = self.rng.integers(0, 3, self.n)
        self.queue = self.rng.poisson(1.5, self.n)

    def _observe(self):
        kind = np.eye(3)[self.kind]
        raw = np.concatenate(
            [
                self.level,
                self.load[:, None] * 10,
                self.moist[:, None] * 5,
                self.queue[:, None] / 4.0,
                kind,
            ],
            axis=1,
        )
        return np.tanh(raw @ self.mix).astype("float32")

    def step(self, action):
        rows = np.arange(self.n)
        to_bin = action < self.n_bins
        slot = np.minimum(action, self.n_bins - 1)
        before = self.level[rows, slot]
        after = np.where(to_bin, before + self.load, before)
        spill = np.maximum(after - 1.0, 0.0)
        self.level[rows, slot] = np.minimum(after, 1.0)
        good = (slot % 3) == self.kind
        reward = np.where(to_bin, np.where(good, 1.0, -0.5) - 8.0 * spill, -0.2)
        reward += np.where((action == 6) & (self.moist > 0.2), 0.9, 0.0)
        reward -= 0.05 * self.queue
        self.level *= 0.985
        self._truck()
        return self._observe(), reward.astype("float32")


# --------------------------------------------------------------------------- memory
class Replay:
    def __init__(self, capacity, n_obs):
        self.obs = np.zeros((capacity, n_obs), "float32")
        self.nxt = np.zeros((capacity, n_obs), "float32")
        self.act = np.zeros(capacity, "int32")
        self.rew = np.zeros(capacity, "float32")
        self.done = np.zeros(capacity, "float32")
        self.capacity = capacity
        self.head = 0
        self.size = 0

    def extend(self, obs, act, rew, nxt, done):
        idx = (self.head + np.arange(len(act))) % self.capacity
        self.obs[idx], self.act[idx], self.rew[idx] = obs, act, rew
        self.nxt[idx], self.done[idx] = nxt, done
        self.head = int((self.head + len(act)) % self.capacity)
        self.size = int(min(self.size + len(act), self.capacity))

    def draw(self, rng, n):
        i = rng.integers(0, self.size, n)
        return self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.done[i]

    def dump(self, path):
        n = self.size
        np.savez_compressed(
            path,
            obs=self.obs[:n],
            nxt=self.nxt[:n],
            act=self.act[:n],
            rew=self.rew[:n],
            done=self.done[:n],
            head=self.head,
        )


# --------------------------------------------------------------------------- agent
def q_network(n_obs, n_actions, width=320):
    inp = keras.Input((n_obs,))
    h = keras.layers.Dense(width, activation="relu")(inp)
    h = keras.layers.Dense(width, activation="relu")(h)
    v = keras.layers.Dense(1)(keras.layers.Dense(width // 2, activation="relu")(h))
    a = keras.layers.Dense(n_actions)(keras.layers.Dense(width // 2, activation="relu")(h))
    q = keras.layers.Lambda(lambda t: t[0] + t[1] - tf.reduce_mean(t[1], 1, keepdims=True))([v, a])
    return keras.Model(inp, q)


class Agent:
    def __init__(self, args, n_obs, n_actions):
        self.n_actions = n_actions
        self.gamma, self.tau = args.gamma, args.tau
        self.online = q_network(n_obs, n_actions)
        self.target = q_network(n_obs, n_actions)
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(args.lr, clipnorm=5.0)
        self.opt.build(self.online.trainable_variables)

    @tf.function(reduce_retracing=True)
    def greedy(self, obs):
        return tf.argmax(self.online(obs, training=False), axis=1, output_type=tf.int32)

    @tf.function
    def learn(self, obs, act, rew, nxt, done):
        best = tf.argmax(self.online(nxt, training=False), axis=1, output_type=tf.int32)
        q_next = tf.gather(self.target(nxt, training=False), best, axis=1, batch_dims=1)
        goal = rew + self.gamma * (1.0 - done) * q_next
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(obs, training=True), act, axis=1, batch_dims=1)
            err = tf.abs(goal - q)
            loss = tf.reduce_mean(tf.where(err < 1.0, 0.5 * err * err, err - 0.5))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        for t, o in zip(self.target.variables, self.online.variables):
            t.assign_add(self.tau * (o - t))
        return loss


# --------------------------------------------------------------------------- bookkeeping
class RunFolder:
    """Everything that is needed to take a killed run up again."""

    def __init__(self, root):
        self.root = root or tempfile.mkdtemp(prefix="elevator_")
        self.scores = os.path.join(self.root, "scores.csv")

    def note(self, episode, score, loss):
        with open(self.scores, "a") as f:
            f.write(f"{episode},{score:.4f},{loss:.5f}\n")

    def keep(self, agent, memory, episode):
        np.savez(os.path.join(self.root, "weights.npz"), *agent.online.get_weights())
        memory.dump(os.path.join(self.root, "memory.npz"))
        with open(os.path.join(self.root, "last"), "w") as f:
            f.write(str(episode))


def epsilon(episode, args):
    frac = min(1.0, episode / (0.6 * args.episodes))
    return 1.0 + frac * (args.eps_final - 1.0)


def play_episode(yard, agent, memory, args, eps, rng):
    obs = yard.reset()
    total = 0.0
    for t in range(args.horizon):
        act = agent.greedy(obs).numpy()
        dice = rng.random(yard.n) < eps
        act[dice] = rng.integers(0, agent.n_actions, int(dice.sum()))
        nxt, rew = yard.step(act)
        done = np.full(yard.n, float(t == args.horizon - 1), "float32")
        memory.extend(obs, act, rew, nxt, done)
        total += float(rew.mean())
        obs = nxt
    return total


def main():
    args = parse_args()
    random.seed(args.seed)
    tf.random.set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    yard = ElevatorYard(args.yards, rng)
    memory = Replay(200_000, yard.n_obs)
    agent = Agent(args, yard.n_obs, yard.n_actions)
    folder = RunFolder(args.out)
    recent = collections.deque(maxlen=10)

    t0 = time.time()
    for episode in range(args.episodes):
        score = play_episode(yard, agent, memory, args, epsilon(episode, args), rng)
        losses = [agent.learn(*memory.draw(rng, args.batch)) for _ in range(args.updates)]
        loss = float(tf.reduce_mean(losses))
        recent.append(score)
        folder.note(episode, score, loss)
        folder.keep(agent, memory, episode)
        if episode % 10 == 9:
            print(
                f"episode {episode + 1:3d}  score {np.mean(recent):7.2f}  loss {loss:.4f}  "
                f"memory {memory.size}  {time.time() - t0:.1f}s",
                flush=True,
            )
    print("best of the last ten:", round(max(recent), 2))


if __name__ == "__main__":
    main()

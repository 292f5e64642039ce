"""TD3 on a planar two-link reaching task (vectorised numpy environment)."""

import argparse
import collections
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers


class ReachEnv:
    """`count` arms at once; observation: angles, velocities, target and tip."""

    obs_dim, act_dim, horizon = 10, 2, 50

    def __init__(self, count, seed):
        self.count = count
        self.rng = np.random.default_rng(seed)
        self.angle = np.zeros((count, 2), np.float32)
        self.speed = np.zeros((count, 2), np.float32)
        self.target = np.zeros((count, 2), np.float32)
        self.clock = np.zeros(count, np.int32)
        self._reset(np.ones(count, bool))

    def _reset(self, which):
        n = int(which.sum())
        self.angle[which] = self.rng.uniform(-np.pi, np.pi, (n, 2))
        self.speed[which] = 0.0
        radius, phi = self.rng.uniform(0.3, 1.6, n), self.rng.uniform(-np.pi, np.pi, n)
        self.target[which] = np.stack([radius * np.cos(phi), radius * np.sin(phi)], -1)
        self.clock[which] = self.rng.integers(0, self.horizon // 2, n)

    def _tip(self):
        a, b = self.angle[:, 0], self.angle.sum(1)
        return np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)], -1) * 0.85

    def observe(self):
        return np.concatenate(
            [
                np.cos(self.angle),
                np.sin(self.angle),
                self.speed,
                self.target,
                self._tip() - self.target,
            ],
            axis=1,
        ).astype(np.float32)

    def step(self, action):
        self.speed = 0.85 * self.speed + 0.25 * action
        self.angle = self.angle + 0.2 * self.speed
        self.clock += 1
        reward = -np.linalg.norm(self._tip() - self.target, axis=1) - 0.02 * (action**2).sum(1)
        following = self.observe()
        over = self.clock >= self.horizon
        if over.any():
            self._reset(over)
        return following, reward.astype(np.float32)


class ReplayBuffer:
    def __init__(self, capacity, obs_dim, act_dim, seed):
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.act = np.zeros((capacity, act_dim), np.float32)
        self.rew = np.zeros((capacity,), np.float32)
        self.nxt = np.zeros((capacity, obs_dim), np.float32)
        self.capacity, self.size, self.head = capacity, 0, 0
        self.rng = np.random.default_rng(seed)

    def add(self, obs, act, rew, nxt):
        rows = (self.head + np.arange(len(obs))) % self.capacity
        self.obs[rows], self.act[rows], self.rew[rows], self.nxt[rows] = obs, act, rew, nxt
        self.head = (self.head + len(obs)) % self.capacity
        self.size = min(self.size + len(obs), self.capacity)

    def sample(self, batch):
        rows = self.rng.integers(0, self.size, batch)
        return (
            tf.constant(self.obs[rows]),
            tf.constant(self.act[rows]),
            tf.constant(self.rew[rows]),
            tf.constant(self.nxt[rows]),
        )


def mlp(inp, out, activation=None, width=128):
    return keras.Sequential(
        [
            keras.Input((inp,)),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(out, activation=activation),
        ]
    )


class TD3:
    def __init__(self, obs_dim, act_dim, lr=1e-3, gamma=0.95, tau=0.01):
        self.gamma, self.tau = gamma, tau
        self.actor, self.actor_t = (mlp(obs_dim, act_dim, "tanh") for _ in range(2))
        self.critics = [mlp(obs_dim + act_dim, 1) for _ in range(2)]
        self.critics_t = [mlp(obs_dim + act_dim, 1) for _ in range(2)]
        self.actor_t.set_weights(self.actor.get_weights())
        for c, t in zip(self.critics, self.critics_t):
            t.set_weights(c.get_weights())
        self.critic_vars = [v for c in self.critics for v in c.trainable_variables]
        self.actor_opt = keras.optimizers.Adam(lr)
        self.critic_opt = keras.optimizers.Adam(lr)

    @tf.function
    def act(self, obs):
        return self.actor(obs)

    @tf.function
    def update_critics(self, obs, act, rew, nxt):
        noise = tf.clip_by_value(tf.random.normal(tf.shape(act), stddev=0.2), -0.5, 0.5)
        nxt_act = tf.clip_by_value(self.actor_t(nxt) + noise, -1.0, 1.0)
        nxt_in = tf.concat([nxt, nxt_act], 1)
        q_next = tf.minimum(*[c(nxt_in)[:, 0] for c in self.critics_t])
        target = rew + self.gamma * q_next
        inputs = tf.concat([obs, act], 1)
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean((c(inputs)[:, 0] - target) ** 2) for c in self.critics])
        grads = tape.gradient(loss, self.critic_vars)
        self.critic_opt.apply_gradients(zip(grads, self.critic_vars))
        return loss

    @tf.function
    def update_actor(self, obs):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critics[0](tf.concat([obs, self.actor(obs)], 1)))
        grads = tape.gradient(loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        for net, target in [(self.actor, self.actor_t), *zip(self.critics, self.critics_t)]:
            for v, t in zip(net.trainable_variables, target.trainable_variables):
                t.assign_add(self.tau * (v - t))
        return loss


def evaluate(agent, episodes=32, seed=123):
    env = ReachEnv(episodes, seed)
    obs, total = env.observe(), np.zeros(episodes)
    for _ in range(env.horizon):
        _, rew = env.step(agent.act(tf.constant(obs)).numpy())
        obs = env.observe()
        total += rew
    return float(total.mean())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=9000)
    p.add_argument("--warmup", type=int, default=400)
    p.add_argument("--envs", type=int, default=16)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--policy-delay", type=int, default=2)
    p.add_argument("--eval-every", type=int, default=1500)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    env = ReachEnv(args.envs, args.seed)
    agent = TD3(env.obs_dim, env.act_dim)
    buffer = ReplayBuffer(100_000, env.obs_dim, env.act_dim, args.seed)
    recent = collections.deque(maxlen=200)
    out = tempfile.mkdtemp(prefix="td3_reach_")
    t0 = time.time()

    obs = env.observe()
    for it in range(1, args.iterations + 1):
        if it <= args.warmup:
            action = rng.uniform(-1, 1, (args.envs, env.act_dim)).astype(np.float32)
        else:
            action = agent.act(tf.constant(obs)).numpy()
            action = np.clip(action + rng.normal(0, 0.1, action.shape), -1, 1).astype(np.float32)
        following, reward = env.step(action)
        buffer.add(obs, action, reward, following)
        recent.append(float(reward.mean()))
        obs = env.observe()
        if it > args.warmup:
            batch = buffer.sample(args.batch)
            agent.update_critics(*batch)
            if it % args.policy_delay == 0:
                agent.update_actor(batch[0])
        if it % 500 == 0:
            print(
                f"iter {it:5d}  buffer {buffer.size:6d}  reward {np.mean(recent):.3f}"
                f"  {time.time() - t0:.1f}s",
                flush=True,
            )
        if it % args.eval_every == 0:
            print(f"iter {it:5d}  eval return {evaluate(agent):.2f}", flush=True)
    agent.actor.save_weights(os.path.join(out, "actor.weights.h5"))


if __name__ == "__main__":
    main()

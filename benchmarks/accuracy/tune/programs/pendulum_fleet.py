"""DDPG on a fleet of sixteen simulated pendulums, learning from a replay buffer."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

FLEET = 16
DT = 0.05


class PendulumFleet:
    """The classic swing-up, all pendulums stepped at once."""

    def __init__(self, n, rng, horizon=160):
        self.n, self.rng, self.horizon = n, rng, horizon

    def reset(self):
        self.theta = self.rng.uniform(-np.pi, np.pi, self.n)
        self.omega = self.rng.uniform(-1, 1, self.n)
        self.t = 0
        return self.observe()

    def observe(self):
        return np.stack([np.cos(self.theta), np.sin(self.theta), self.omega / 8], 1).astype(
            "float32"
        )

    def step(self, action):
        u = 2.0 * np.clip(action[:, 0], -1, 1)
        angle = (self.theta + np.pi) % (2 * np.pi) - np.pi
        reward = -(angle**2 + 0.1 * self.omega**2 + 0.001 * u**2)
        self.omega = np.clip(self.omega + (15 * np.sin(self.theta) + 3 * u) * DT, -8, 8)
        self.theta = self.theta + self.omega * DT
        self.t += 1
        return self.observe(), (reward / 10).astype("float32"), self.t >= self.horizon


class Replay:
    def __init__(self, capacity):
        self.rows = np.zeros((capacity, 3 + 1 + 1 + 3), "float32")
        self.capacity, self.count = capacity, 0

    def add(self, s, a, r, s2):
        k = (self.count + np.arange(len(s))) % self.capacity
        self.rows[k] = np.concatenate([s, a, r[:, None], s2], 1)
        self.count += len(s)

    def draw(self, rng, updates, batch):
        return self.rows[rng.integers(0, min(self.count, self.capacity), (updates, batch))]


def net(n_in, out_activation=None, width=192):
    return keras.Sequential(
        [
            keras.Input((n_in,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(1, activation=out_activation),
        ]
    )


class Agent:
    def __init__(self, gamma=0.97, tau=0.01):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = net(3, "tanh"), net(4)
        self.actor_t, self.critic_t = net(3, "tanh"), net(4)
        self.actor_t.set_weights(self.actor.get_weights())
        self.critic_t.set_weights(self.critic.get_weights())
        self.opt_a, self.opt_c = keras.optimizers.Adam(5e-4), keras.optimizers.Adam(1e-3)
        self.opt_a.build(self.actor.trainable_variables)
        self.opt_c.build(self.critic.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def act(self, obs):
        return self.actor(obs)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 8], tf.float32)])
    def learn(self, rows):
        total = 0.0
        for k in tf.range(tf.shape(rows)[0]):
            s, a, r, s2 = tf.split(rows[k], [3, 1, 1, 3], axis=1)
            q2 = self.critic_t(tf.concat([s2, self.actor_t(s2)], 1))
            target = r + self.gamma * q2
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(target - self.critic(tf.concat([s, a], 1))))
            self.opt_c.apply_gradients(
                zip(
                    tape.gradient(loss, self.critic.trainable_variables),
                    self.critic.trainable_variables,
                )
            )
            with tf.GradientTape() as tape:
                value = -tf.reduce_mean(self.critic(tf.concat([s, self.actor(s)], 1)))
            self.opt_a.apply_gradients(
                zip(
                    tape.gradient(value, self.actor.trainable_variables),
                    self.actor.trainable_variables,
                )
            )
            for live, slow in ((self.actor, self.actor_t), (self.critic, self.critic_t)):
                for p, q in zip(live.trainable_variables, slow.trainable_variables):
                    q.assign(q + self.tau * (p - q))
            total += loss
        return total / tf.cast(tf.shape(rows)[0], tf.float32)


def evaluate(agent, rng):
    env = PendulumFleet(32, rng)
    obs, total, over = env.reset(), 0.0, False
    while not over:
        obs, reward, over = env.step(agent.act(obs).numpy())
        total += reward.mean()
    return total


def main(episodes=28, fill_first=12000, updates=3, batch=128):
    rng = np.random.default_rng(21)
    keras.utils.set_random_seed(21)
    env, agent, replay = PendulumFleet(FLEET, rng), Agent(), Replay(60000)
    for episode in range(1, episodes + 1):
        began, obs, over = time.perf_counter(), env.reset(), False
        score, losses, noise = 0.0, [], max(0.1, 1.0 - episode / 14)
        while not over:
            if replay.count < fill_first:
                action = rng.uniform(-1, 1, (FLEET, 1)).astype("float32")
            else:
                action = agent.act(obs).numpy()
                action += noise * rng.normal(size=action.shape).astype("float32")
            nxt, reward, over = env.step(action)
            replay.add(obs, np.clip(action, -1, 1), reward, nxt)
            obs, score = nxt, score + reward.mean()
            if replay.count >= fill_first:
                losses.append(agent.learn(tf.constant(replay.draw(rng, updates, batch))))
        critic = np.mean(losses) if losses else float("nan")
        line = f"episode {episode:3d}  score {score:8.2f}  critic {critic:.4f}  noise {noise:.2f}"
        if episode % 7 == 0:
            line += f"  | greedy {evaluate(agent, rng):8.2f}"
        print(f"{line}  ({time.perf_counter() - began:.2f}s)", flush=True)


if __name__ == "__main__":
    main()

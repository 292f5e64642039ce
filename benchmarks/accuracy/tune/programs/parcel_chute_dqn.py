"""DQN that routes parcels down four chutes of a small sorting hall."""

import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

CHUTES = 4
OBS = 48


class SortingHall:
    def __init__(self, rng):
        self.rng = rng
        self.centres = rng.normal(size=(CHUTES, OBS - CHUTES)).astype(np.float32)
        self.reset()

    def _parcel(self):
        self.kind = self.rng.integers(CHUTES)
        barcode = self.centres[self.kind] + self.rng.normal(size=OBS - CHUTES) * 1.5
        return np.concatenate([self.load, barcode]).astype(np.float32)

    def reset(self):
        self.load = np.zeros(CHUTES)
        self.t = 0
        return self._parcel()

    def step(self, action):
        reward = 1.0 if action == self.kind else -0.3
        self.load[action] += 0.25
        self.load *= 0.93
        reward -= 0.5 * float(self.load.max() > 1.2)
        self.t += 1
        return self._parcel(), reward, self.t >= 100


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []

    def push(self, *transition):
        self.memory.append(transition)
        if len(self.memory) > self.capacity:
            self.memory.pop(0)

    def sample(self, batch_size):
        states, actions, rewards, nexts, dones = map(np.array, zip(*self.memory))
        idx = np.random.randint(0, len(self.memory), batch_size)
        return (
            states[idx],
            actions[idx].astype(np.int32),
            rewards[idx].astype(np.float32),
            nexts[idx],
            dones[idx].astype(np.float32),
        )

    def __len__(self):
        return len(self.memory)


def q_network():
    return keras.Sequential(
        [
            keras.Input((OBS,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(CHUTES),
        ]
    )


class Agent:
    def __init__(self):
        self.online, self.target = q_network(), q_network()
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(5e-4)
        self.eps = 1.0

    @tf.function
    def greedy(self, obs):
        return tf.argmax(self.online(obs), axis=-1)

    def act(self, obs):
        if random.random() < self.eps:
            return random.randrange(CHUTES)
        return int(self.greedy(tf.constant(obs[None]))[0])

    @tf.function
    def learn(self, s, a, r, s2, d):
        best = tf.reduce_max(self.target(s2), axis=-1)
        goal = r + 0.9 * (1.0 - d) * best
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s, training=True), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        g = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(g, self.online.trainable_variables))
        return loss


def main(total_steps=6000, warmup=200, batch=64):
    keras.utils.set_random_seed(3)
    env = SortingHall(np.random.default_rng(3))
    agent, memory = Agent(), ReplayMemory(20000)
    obs, ret, episodes = env.reset(), 0.0, []
    for t in range(total_steps):
        a = agent.act(obs)
        nxt, r, done = env.step(a)
        memory.push(obs, a, r, nxt, done)
        obs, ret = nxt, ret + r
        agent.eps = max(0.05, 1.0 - t / 2500)
        if done:
            episodes.append(ret)
            obs, ret = env.reset(), 0.0
        if len(memory) >= warmup:
            agent.learn(*map(tf.constant, memory.sample(batch)))
        if t % 400 == 0:
            agent.target.set_weights(agent.online.get_weights())
        if t % 1000 == 999:
            print(t + 1, "mean return", round(float(np.mean(episodes[-8:])), 2))


if __name__ == "__main__":
    main()

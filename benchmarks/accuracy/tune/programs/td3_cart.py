"""TD3: two critics, a delayed actor, and three test drives every 300 moves."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense


class Cart:
    dt = 0.05

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.state = self.rng.uniform(-1, 1, 3).astype(np.float32)
        self.t = 0
        return self.state.copy()

    def step(self, force):
        x, v, goal = self.state
        v = 0.98 * v + self.dt * float(force) * 4
        x = np.clip(x + self.dt * v, -2, 2)
        self.state = np.array([x, v, goal], np.float32)
        self.t += 1
        return self.state.copy(), -abs(x - goal) - 0.01 * force**2, self.t >= 60


class Ring:
    def __init__(self, size, obs):
        self.o = np.zeros((size, obs), np.float32)
        self.n = np.zeros((size, obs), np.float32)
        self.a = np.zeros((size, 1), np.float32)
        self.r = np.zeros((size, 1), np.float32)
        self.size, self.next, self.full = size, 0, False

    def put(self, o, a, r, n):
        k = self.next
        self.o[k], self.a[k], self.r[k], self.n[k] = o, a, r, n
        self.next = (k + 1) % self.size
        self.full |= self.next == 0

    def draw(self, count):
        rows = np.random.randint(0, self.size if self.full else self.next, count)
        return [tf.constant(part[rows]) for part in (self.o, self.a, self.r, self.n)]


def net(inputs, last=None):
    return tf.keras.Sequential(
        [tf.keras.Input((inputs,)), Dense(96, "relu"), Dense(96, "relu"), Dense(1, last)]
    )


class TD3:
    def __init__(self):
        self.actor, self.actor_target = net(3, "tanh"), net(3, "tanh")
        self.critics, self.critic_targets = [net(4), net(4)], [net(4), net(4)]
        self.copy(1.0)
        self.actor_opt = tf.keras.optimizers.Adam(1e-3)
        self.critic_opt = tf.keras.optimizers.Adam(1e-3)

    def copy(self, tau):
        for net_, target in zip(
            [self.actor, *self.critics], [self.actor_target, *self.critic_targets]
        ):
            for v, t in zip(net_.variables, target.variables):
                t.assign(tau * v + (1 - tau) * t)

    @tf.function
    def act(self, o):
        return self.actor(o)

    @tf.function
    def update_critics(self, o, a, r, n):
        noise = tf.clip_by_value(tf.random.normal(tf.shape(a), stddev=0.2), -0.5, 0.5)
        na = tf.clip_by_value(self.actor_target(n) + noise, -1, 1)
        nn = tf.concat([n, na], 1)
        q = r + 0.97 * tf.minimum(*[target(nn) for target in self.critic_targets])
        weights = self.critics[0].trainable_variables + self.critics[1].trainable_variables
        with tf.GradientTape() as tape:
            oa = tf.concat([o, a], 1)
            loss = tf.add_n([tf.reduce_mean((critic(oa) - q) ** 2) for critic in self.critics])
        self.critic_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    @tf.function
    def update_actor(self, o):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critics[0](tf.concat([o, self.actor(o)], 1)))
        weights = self.actor.trainable_variables
        self.actor_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.copy(0.01)


def test_drive(agent, env):
    o, done, total = env.reset(), False, 0.0
    while not done:
        o, reward, done = env.step(float(agent.act(tf.constant(o[None]))[0, 0]))
        total += reward
    return total


if __name__ == "__main__":
    env, test_env = Cart(0), Cart(1)
    agent, ring = TD3(), Ring(5000, 3)
    o = env.reset()
    for move in range(2100):
        a = float(agent.act(tf.constant(o[None]))[0, 0]) + np.random.normal(0, 0.2)
        a = float(np.clip(a, -1, 1))
        n, reward, done = env.step(a)
        ring.put(o, a, reward, n)
        o = env.reset() if done else n
        if move >= 100:
            batch = ring.draw(100)
            agent.update_critics(*batch)
            if move % 2 == 0:
                agent.update_actor(batch[0])
        if move % 300 == 299:
            drives = [test_drive(agent, test_env) for _ in range(3)]
            print(f"move {move + 1}: mean of three drives {np.mean(drives):.2f}")

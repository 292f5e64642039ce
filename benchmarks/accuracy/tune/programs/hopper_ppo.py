"""PPO on a one-dimensional hopper; returns are scaled by their spread over the whole training."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)


class Hopper:
    """Keep the height near one by pushing."""

    def __init__(self, n):
        self.n = n
        self.h = np.ones(n, np.float32)
        self.v = np.zeros(n, np.float32)

    def observe(self):
        return tf.constant(np.stack([self.h, self.v, self.h**2, np.sign(self.v)], 1))

    def step(self, push):
        self.v += 0.1 * (push - 1.0) + np.random.normal(0, 0.02, self.n).astype(np.float32)
        self.h += 0.1 * self.v
        reward = -np.abs(self.h - 1)
        fallen = np.abs(self.h - 1) > 2
        self.h[fallen], self.v[fallen] = 1, 0
        return tf.constant(reward)


def mlp(out):
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(64, "tanh"),
            tf.keras.layers.Dense(64, "tanh"),
            tf.keras.layers.Dense(out),
        ]
    )


class ReturnScaler:
    def __init__(self):
        self.returns = []

    def __call__(self, value):
        self.returns.append(value)
        return value / (tf.math.reduce_std(tf.stack(self.returns)) + 1e-6)


actor, critic = mlp(2), mlp(1)
weights = actor.trainable_variables + critic.trainable_variables
adam = tf.keras.optimizers.Adam(3e-4)
adam.build(weights)


@tf.function
def sample(obs):
    mean, raw = tf.split(actor(obs), 2, 1)
    std = tf.nn.softplus(raw) + 0.05
    action = mean + std * tf.random.normal(tf.shape(mean))
    logp = -0.5 * ((action - mean) / std) ** 2 - tf.math.log(std)
    return action[:, 0], logp[:, 0]


@tf.function
def improve(obs, actions, old_logp, returns):
    with tf.GradientTape() as tape:
        mean, raw = tf.split(actor(obs), 2, 1)
        std = tf.nn.softplus(raw) + 0.05
        logp = (-0.5 * ((actions[:, None] - mean) / std) ** 2 - tf.math.log(std))[:, 0]
        advantage = tf.stop_gradient(returns - critic(obs)[:, 0])
        ratio = tf.exp(logp - old_logp)
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        policy = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
        value = tf.reduce_mean((returns - critic(obs)[:, 0]) ** 2)
        loss = policy + 0.5 * value
    adam.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


env, scaler = Hopper(32), ReturnScaler()
for update in range(100):
    obs, acts, logps, rewards = [], [], [], []
    for _ in range(8):
        o = env.observe()
        a, lp = sample(o)
        r = env.step(a.numpy())
        obs.append(o), acts.append(a), logps.append(lp), rewards.append(r)
    running, returns = tf.zeros(32), []
    for r in reversed(rewards):
        running = r + 0.95 * running
        returns.insert(0, scaler(running))
    flat = [tf.concat(part, 0) for part in (obs, acts, logps, returns)]
    for _ in range(3):
        loss = improve(*flat)
    if update % 40 == 0:
        print(update, "loss", round(float(loss), 4), "reward", float(tf.reduce_mean(rewards)))

"""REINFORCE with a baseline for a walker on stilts.

A flock of walkers starts together; the episode lasts until the last of them
is down.  Beginners are down after some steps, and the better they get, the
longer the episodes are (up to 300 steps).
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 23
FLOCK = 48
LIMIT = 300
EPISODES = 85
GAMMA = 0.98

keras.utils.set_random_seed(SEED)


class Stilts:
    def __init__(self, n, rng):
        self.n, self.rng = n, rng

    def reset(self):
        self.s = self.rng.normal(0, 0.05, (self.n, 4)).astype(np.float32)
        self.up = np.ones(self.n, bool)
        return self.s

    def step(self, action):
        lean, rate, sway, sway_rate = self.s.T
        push = (action - 1).astype(np.float32)
        gust = self.rng.normal(0, 0.6, self.n).astype(np.float32)
        rate = rate + 0.04 * (5.0 * np.sin(lean) + 3.5 * push + 0.3 * sway + gust)
        sway_rate = sway_rate + 0.04 * (-2.0 * sway - 0.5 * sway_rate + push)
        lean = lean + 0.04 * rate
        sway = sway + 0.04 * sway_rate
        self.s = np.stack([lean, rate, sway, sway_rate], 1)
        reward = self.up.astype(np.float32)
        self.up &= np.abs(lean) < 0.45
        return self.s, reward, self.up


def net(outputs):
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(256, activation="tanh"),
            keras.layers.Dense(256, activation="tanh"),
            keras.layers.Dense(outputs),
        ]
    )


policy, baseline = net(3), net(1)
policy_opt = keras.optimizers.Adam(1e-3)
baseline_opt = keras.optimizers.Adam(2e-3)


@tf.function(input_signature=[tf.TensorSpec([FLOCK, 4])])
def act(state):
    return tf.random.categorical(policy(state), 1)[:, 0]


@tf.function(
    input_signature=[
        tf.TensorSpec([None, 4]),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None]),
    ]
)
def learn(states, actions, returns):
    with tf.GradientTape() as tape:
        value = baseline(states)[:, 0]
        value_loss = tf.reduce_mean((returns - value) ** 2)
    grads = tape.gradient(value_loss, baseline.trainable_variables)
    baseline_opt.apply_gradients(zip(grads, baseline.trainable_variables))
    adv = returns - value
    adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(states))
        taken = tf.gather(logp, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
        loss = -tf.reduce_mean(taken * adv) - 0.005 * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    policy_opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


def episode(env):
    states, actions, rewards, masks = [], [], [], []
    s, up = env.reset(), np.ones(FLOCK, bool)
    while up.any() and len(states) < LIMIT:
        a = act(tf.constant(s)).numpy()
        states.append(s)
        actions.append(a)
        masks.append(up.copy())
        s, r, up = env.step(a)
        rewards.append(r)
    g = np.zeros(FLOCK, np.float32)
    returns = np.empty((len(rewards), FLOCK), np.float32)
    for t in range(len(rewards) - 1, -1, -1):
        g = rewards[t] + GAMMA * g
        returns[t] = g
    m = np.stack(masks)
    return np.stack(states)[m], np.stack(actions)[m], returns[m], m.sum(0).mean()


env = Stilts(FLOCK, np.random.default_rng(SEED))
for k in range(1, EPISODES + 1):
    states, actions, returns, mean_len = episode(env)
    learn(tf.constant(states), tf.constant(actions), tf.constant(returns))
    if k % 10 == 0:
        print(f"episode {k:4d}  mean length {mean_len:6.1f}")

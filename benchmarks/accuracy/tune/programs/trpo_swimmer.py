"""Natural policy gradient (TRPO) for a swimmer of three segments."""

import numpy as np
import tensorflow as tf

OBS, ACT, ENVS, HORIZON = 6, 2, 16, 50
MAX_KL, DAMPING, CG_STEPS = 0.01, 0.1, 8


class Swimmers:
    """A vectorized toy swimmer: two joints push the body forward."""

    def __init__(self, count, seed=0):
        self.rng = np.random.default_rng(seed)
        self.count = count

    def reset(self):
        self.angles = self.rng.normal(0, 0.2, (self.count, 2))
        self.spin = np.zeros((self.count, 2))
        self.speed = np.zeros((self.count, 2))
        return self.observe()

    def observe(self):
        return np.concatenate([self.angles, self.spin, self.speed], 1).astype(np.float32)

    def step(self, action):
        torque = np.clip(action, -1, 1)
        self.spin = 0.9 * self.spin + 0.3 * torque - 0.1 * self.angles
        self.angles = np.clip(self.angles + 0.1 * self.spin, -1.5, 1.5)
        thrust = (self.spin * np.roll(self.angles, 1, axis=1)).sum(1)
        self.speed[:, 0] = 0.95 * self.speed[:, 0] + 0.1 * thrust
        return self.observe(), self.speed[:, 0] - 1e-3 * (torque**2).sum(1)


hidden = [tf.keras.layers.Dense(64, activation="tanh") for _ in range(2)]
policy = tf.keras.Sequential([tf.keras.Input((OBS,)), *hidden, tf.keras.layers.Dense(ACT)])
log_std = tf.Variable(tf.fill([ACT], -0.5))
params = policy.trainable_variables + [log_std]


def flatten(tensors):
    return tf.concat([tf.reshape(t, [-1]) for t in tensors], 0)


def unflatten(vector):
    sizes = [int(np.prod(p.shape)) for p in params]
    return [tf.reshape(v, p.shape) for v, p in zip(tf.split(vector, sizes), params)]


def log_prob(obs, act):
    z = (act - policy(obs)) / tf.exp(log_std)
    return -tf.reduce_sum(0.5 * z**2 + log_std, axis=1)


@tf.function
def sample(obs):
    mean = policy(obs)
    return mean + tf.exp(log_std) * tf.random.normal(tf.shape(mean))


def conjugate_gradient(product, b):
    x, r, p = tf.zeros_like(b), b, b
    rr = tf.tensordot(r, r, 1)
    for _ in range(CG_STEPS):
        z = product(p)
        alpha = rr / (tf.tensordot(p, z, 1) + 1e-8)
        x, r = x + alpha * p, r - alpha * z
        new = tf.tensordot(r, r, 1)
        p, rr = r + new / rr * p, new
    return x


def update(obs, act, adv):
    old_mean, old_std = policy(obs), tf.identity(log_std)
    old_logp = log_prob(obs, act)

    def mean_kl():
        shift = (tf.exp(2 * old_std) + (old_mean - policy(obs)) ** 2) / tf.exp(2 * log_std)
        return tf.reduce_mean(tf.reduce_sum(log_std - old_std + 0.5 * shift - 0.5, 1))

    @tf.function
    def surrogate_and_gradient():
        with tf.GradientTape() as tape:
            gain = tf.reduce_mean(tf.exp(log_prob(obs, act) - old_logp) * adv)
        return gain, flatten(tape.gradient(gain, params))

    @tf.function
    def fisher_product(v):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                kl = mean_kl()
            slope = tf.tensordot(flatten(inner.gradient(kl, params)), v, 1)
        return flatten(outer.gradient(slope, params)) + DAMPING * v

    gain, g = surrogate_and_gradient()
    direction = conjugate_gradient(fisher_product, g)
    scale = tf.sqrt(2 * MAX_KL / (tf.tensordot(direction, fisher_product(direction), 1) + 1e-8))
    for p, change in zip(params, unflatten(scale * direction)):
        p.assign_add(change)
    return gain, mean_kl()


env = Swimmers(ENVS)
for iteration in range(80):
    obs, rows = env.reset(), []
    for _ in range(HORIZON):
        act = sample(obs).numpy()
        after, reward = env.step(act)
        rows.append((obs, act, reward))
        obs = after
    o, a, r = (np.stack(column) for column in zip(*rows))
    returns = np.cumsum(r[::-1], axis=0)[::-1]
    adv = ((returns - returns.mean(1, keepdims=True)) / (returns.std() + 1e-6)).astype(np.float32)
    flat = o.reshape(-1, OBS), a.reshape(-1, ACT), adv.reshape(-1)
    gain, kl = update(*map(tf.constant, flat))
    if iteration % 10 == 0:
        print(f"iteration {iteration:3d} return {r.sum(0).mean():7.3f} kl {kl:.4f}")

"""REINFORCE with a learned baseline on a vectorised NumPy cart-pole."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

N_ENVS, HORIZON, GAMMA = 8, 300, 0.99


class CartPoles:
    """N independent cart-poles; `alive` marks those whose episode still runs."""

    dt, force, g, m_cart, m_pole, half = 0.02, 10.0, 9.8, 1.0, 0.1, 0.5

    def __init__(self, n, seed=0):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, (self.n, 4))
        self.alive = np.ones(self.n, bool)
        return self.state.astype(np.float32)

    def step(self, action):
        x, xd, th, thd = self.state.T
        f = np.where(action == 1, self.force, -self.force)
        total = self.m_cart + self.m_pole
        c, s = np.cos(th), np.sin(th)
        tmp = (f + self.m_pole * self.half * thd**2 * s) / total
        tha = (self.g * s - c * tmp) / (self.half * (4 / 3 - self.m_pole * c**2 / total))
        xa = tmp - self.m_pole * self.half * tha * c / total
        nxt = np.stack(
            [x + self.dt * xd, xd + self.dt * xa, th + self.dt * thd, thd + self.dt * tha], 1
        )
        self.state = np.where(self.alive[:, None], nxt, self.state)
        was_alive = self.alive.copy()
        self.alive &= (np.abs(self.state[:, 0]) < 2.4) & (np.abs(self.state[:, 2]) < 0.21)
        return self.state.astype(np.float32), was_alive.astype(np.float32)


class Policy(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.layers.Dense(64, activation="tanh")
        self.logits = keras.layers.Dense(2)
        self.value = keras.layers.Dense(1)

    def call(self, s):
        h = self.trunk(s)
        return self.logits(h), self.value(h)[..., 0]


class Learner:
    def __init__(self, lr=4e-3):
        self.policy = Policy()
        self.policy(tf.zeros((1, 4)))
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(self.policy.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((N_ENVS, 4), tf.float32)])
    def act(self, s):
        logits, _ = self.policy(s)
        return tf.random.categorical(logits, 1)[:, 0]

    @tf.function(
        input_signature=[
            tf.TensorSpec((HORIZON, N_ENVS, 4), tf.float32),
            tf.TensorSpec((HORIZON, N_ENVS), tf.int64),
            tf.TensorSpec((HORIZON, N_ENVS), tf.float32),
            tf.TensorSpec((HORIZON, N_ENVS), tf.float32),
        ]
    )
    def update(self, obs, act, ret, mask):
        n = tf.reduce_sum(mask)
        with tf.GradientTape() as tape:
            logits, value = self.policy(obs)
            adv = tf.stop_gradient(ret - value)
            mean = tf.reduce_sum(adv * mask) / n
            std = tf.sqrt(tf.reduce_sum(tf.square(adv - mean) * mask) / n) + 1e-6
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(act, logits)
            probs = tf.nn.softmax(logits)
            entropy = -tf.reduce_sum(probs * tf.math.log(probs + 1e-8), -1)
            pg = -tf.reduce_sum(mask * (logp * (adv - mean) / std + 0.003 * entropy)) / n
            vf = tf.reduce_sum(mask * tf.square(ret - value)) / n
            loss = pg + 0.02 * vf
        grads = tape.gradient(loss, self.policy.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.policy.trainable_variables))
        return loss


def rollout(envs, learner):
    obs = np.zeros((HORIZON, N_ENVS, 4), np.float32)
    act = np.zeros((HORIZON, N_ENVS), np.int64)
    rew = np.zeros((HORIZON, N_ENVS), np.float32)
    s, t = envs.reset(), 0
    while t < HORIZON and envs.alive.any():
        a = learner.act(s).numpy()
        obs[t], act[t] = s, a
        s, rew[t] = envs.step(a)
        t += 1
    ret = np.zeros_like(rew)
    running = np.zeros(N_ENVS, np.float32)
    for k in range(t - 1, -1, -1):
        running = rew[k] + GAMMA * running
        ret[k] = running
    return obs, act, ret * rew, rew


def main(iterations=220):
    tf.random.set_seed(0)
    envs, learner = CartPoles(N_ENVS), Learner()
    lengths = []
    for it in range(1, iterations + 1):
        obs, act, ret, mask = rollout(envs, learner)
        learner.update(obs, act, ret, mask)
        lengths.append(mask.sum(0).mean())
        if it % 20 == 0:
            print(f"iter {it:4d} mean episode length {np.mean(lengths[-20:]):.1f}")


if __name__ == "__main__":
    main()

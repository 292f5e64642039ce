"""REINFORCE with a learned baseline: keep a small rocket hovering over its pad.

python hover_pg.py
"""

import numpy as np
import tensorflow as tf

EPISODES_PER_UPDATE = 14
UPDATES = 200
GAMMA = 0.98
MAX_T = 240
DT = 0.06
rng = np.random.default_rng(2024)
tf.keras.utils.set_random_seed(2024)


class Rocket:
    """Planar rocket; actions: nothing, left jet, right jet, main engine."""

    n_obs, n_act = 7, 4

    def reset(self):
        self.x, self.y = rng.uniform(-0.4, 0.4), rng.uniform(0.9, 1.5)
        self.vx, self.vy = rng.uniform(-0.2, 0.2), rng.uniform(-0.3, 0.1)
        self.a, self.w = rng.uniform(-0.15, 0.15), rng.uniform(-0.2, 0.2)
        self.t = 0
        return self.obs()

    def obs(self):
        return np.array(
            [self.x, self.y - 1.2, self.vx, self.vy, np.sin(self.a), np.cos(self.a), self.w],
            np.float32,
        )

    def step(self, act):
        thrust = 1.9 if act == 3 else 0.0
        torque = {1: 1.5, 2: -1.5}.get(act, 0.0)
        wind = 0.05 * rng.normal()
        self.w += (torque - 0.1 * self.w) * DT
        self.a += self.w * DT
        self.vx += (-thrust * np.sin(self.a) + wind) * DT
        self.vy += (thrust * np.cos(self.a) - 0.9) * DT
        self.x += self.vx * DT
        self.y += self.vy * DT
        self.t += 1
        out = abs(self.x) > 1.5 or self.y < 0.0 or self.y > 2.8 or abs(self.a) > 1.2
        reward = 1.0 - 0.5 * abs(self.x) - 0.4 * abs(self.y - 1.2) - 0.1 * abs(self.w)
        if out:
            reward -= 5.0
        return self.obs(), reward, out or self.t >= MAX_T


def mlp(out, name):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((Rocket.n_obs,)),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(
                out, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01)
            ),
        ],
        name=name,
    )


class Agent:
    def __init__(self):
        self.policy = mlp(Rocket.n_act, "policy")
        self.value = mlp(1, "value")
        self.pi_opt = tf.keras.optimizers.Adam(1.5e-3)
        self.v_opt = tf.keras.optimizers.Adam(3e-3)
        self.sync()

    def sync(self):
        """Host copy of the policy, for acting."""
        self.host = self.policy.get_weights()

    def act(self, o):
        w1, b1, w2, b2, w3, b3 = self.host
        h = np.tanh(np.tanh(o @ w1 + b1) @ w2 + b2)
        z = h @ w3 + b3
        p = np.exp(z - z.max())
        p /= p.sum()
        return min(int(np.searchsorted(np.cumsum(p), rng.random())), Rocket.n_act - 1)

    @tf.function
    def update(self, obs, acts, rets):
        base = tf.stop_gradient(tf.squeeze(self.value(obs), -1))
        adv = rets - base
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
        with tf.GradientTape() as tape:
            logits = self.policy(obs)
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=acts, logits=logits)
            probs = tf.nn.softmax(logits)
            entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), -1))
            pi_loss = -tf.reduce_mean(logp * adv) - 0.01 * entropy
        g = tape.gradient(pi_loss, self.policy.trainable_variables)
        self.pi_opt.apply_gradients(zip(g, self.policy.trainable_variables))
        v_loss = 0.0
        for _ in range(2):
            with tf.GradientTape() as tape:
                v_loss = tf.reduce_mean(tf.square(rets - tf.squeeze(self.value(obs), -1)))
            g = tape.gradient(v_loss, self.value.trainable_variables)
            self.v_opt.apply_gradients(zip(g, self.value.trainable_variables))
        return pi_loss, v_loss, entropy


def play(env, agent):
    obs, acts, rews = [], [], []
    o, done = env.reset(), False
    while not done:
        a = agent.act(o)
        obs.append(o)
        acts.append(a)
        o, r, done = env.step(a)
        rews.append(r)
    rets, acc = np.zeros(len(rews), np.float32), 0.0
    for i in range(len(rews) - 1, -1, -1):
        acc = rews[i] + GAMMA * acc
        rets[i] = acc
    return obs, acts, rets, sum(rews)


env, agent = Rocket(), Agent()
recent = []
for it in range(1, UPDATES + 1):
    all_obs, all_acts, all_rets = [], [], []
    for _ in range(EPISODES_PER_UPDATE):
        obs, acts, rets, score = play(env, agent)
        all_obs += obs
        all_acts += acts
        all_rets.append(rets)
        recent.append((score, len(acts)))
    pi_loss, v_loss, entropy = agent.update(
        tf.constant(np.stack(all_obs)),
        tf.constant(all_acts, tf.int32),
        tf.constant(np.concatenate(all_rets)),
    )
    agent.sync()
    if it % 20 == 0:
        s, n = np.mean(recent[-140:], axis=0)
        print(
            f"update {it:4d} | score {s:7.2f} | length {n:6.1f} | value loss {float(v_loss):7.2f} "
            f"| entropy {float(entropy):.3f}"
        )

agent.policy.save_weights("hover.weights.h5")

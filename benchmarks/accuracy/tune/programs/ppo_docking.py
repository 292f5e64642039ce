"""PPO for a planar docking task with a vectorised NumPy simulator."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    envs: int = 64
    horizon: int = 64
    updates: int = 84
    epochs: int = 6
    minibatches: int = 8
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    entropy: float = 2e-3
    lr: float = 3e-4
    eval_every: int = 10


class Docking:
    """State: position, velocity, heading, spin. Thrust forward/side and torque."""

    def __init__(self, n, rng, limit=150):
        self.n, self.rng, self.limit = n, rng, limit
        self.s = np.zeros((n, 6), "float32")
        self.t = np.zeros(n, int)
        self.reset(np.ones(n, bool))

    def reset(self, which):
        k = int(which.sum())
        self.s[which, :2] = self.rng.uniform(-4, 4, (k, 2))
        self.s[which, 2:4] = self.rng.normal(0, 0.2, (k, 2))
        self.s[which, 4] = self.rng.uniform(-np.pi, np.pi, k)
        self.s[which, 5] = 0.0
        self.t[which] = 0

    def observe(self):
        ang = self.s[:, 4:5]
        return np.concatenate([self.s[:, :4], np.sin(ang), np.cos(ang), self.s[:, 5:]], 1)

    def step(self, action):
        a = np.clip(action, -1, 1)
        c, s = np.cos(self.s[:, 4]), np.sin(self.s[:, 4])
        acc = np.stack([c * a[:, 0] - s * a[:, 1], s * a[:, 0] + c * a[:, 1]], 1)
        before = np.linalg.norm(self.s[:, :2], axis=1)
        self.s[:, 2:4] = 0.99 * self.s[:, 2:4] + 0.1 * acc
        self.s[:, :2] += 0.1 * self.s[:, 2:4]
        self.s[:, 5] = 0.95 * self.s[:, 5] + 0.1 * a[:, 2]
        self.s[:, 4] += 0.1 * self.s[:, 5]
        self.t += 1
        dist = np.linalg.norm(self.s[:, :2], axis=1)
        docked = (dist < 0.3) & (np.linalg.norm(self.s[:, 2:4], axis=1) < 0.4)
        reward = 2.0 * (before - dist) - 0.005 * (a**2).sum(1) + 5.0 * docked
        done = docked | (dist > 9) | (self.t >= self.limit)
        if done.any():
            self.reset(done)
        return reward.astype("float32"), done, docked


def mlp(n_in, n_out, scale):
    return tf.keras.Sequential(
        [
            tf.keras.Input((n_in,)),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(
                n_out, kernel_initializer=tf.keras.initializers.Orthogonal(scale)
            ),
        ]
    )


class PPO(tf.Module):
    def __init__(self, cfg, n_obs, n_act):
        super().__init__()
        self.cfg = cfg
        self.actor, self.critic = mlp(n_obs, n_act, 0.01), mlp(n_obs, 1, 1.0)
        self.log_std = tf.Variable(tf.fill((n_act,), -0.5))
        self.vars = (
            self.actor.trainable_variables + self.critic.trainable_variables + [self.log_std]
        )
        self.opt = tf.keras.optimizers.Adam(cfg.lr, epsilon=1e-5)
        self.opt.build(self.vars)

    def log_prob(self, mean, action):
        z = (action - mean) * tf.exp(-self.log_std)
        return -tf.reduce_sum(0.5 * z * z + self.log_std + 0.919, axis=1)

    @tf.function
    def act(self, obs):
        mean = self.actor(obs)
        action = mean + tf.exp(self.log_std) * tf.random.normal(tf.shape(mean))
        return action, self.log_prob(mean, action), self.critic(obs)[:, 0]

    @tf.function
    def mean_action(self, obs):
        return self.actor(obs)

    @tf.function
    def update(self, obs, action, old_logp, adv, ret):
        with tf.GradientTape() as tape:
            logp = self.log_prob(self.actor(obs), action)
            ratio = tf.exp(logp - old_logp)
            clipped = tf.clip_by_value(ratio, 1 - self.cfg.clip, 1 + self.cfg.clip)
            policy = -tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv))
            value = tf.reduce_mean(tf.square(self.critic(obs)[:, 0] - ret))
            loss = policy + 0.5 * value - self.cfg.entropy * tf.reduce_sum(self.log_std)
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.vars), 0.5)
        self.opt.apply_gradients(zip(grads, self.vars))
        return policy, value, tf.reduce_mean(old_logp - logp)


def collect(agent, env, cfg):
    buf = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    docked_total = done_total = 0
    for _ in range(cfg.horizon):
        obs = env.observe()
        action, logp, val = (t.numpy() for t in agent.act(obs))
        rew, done, docked = env.step(action)
        for k, v in zip(buf, (obs, action, logp, val, rew, done.astype("float32"))):
            buf[k].append(v)
        docked_total += int(docked.sum())
        done_total += int(done.sum())
    last = agent.act(env.observe())[2].numpy()
    data = {k: np.stack(v) for k, v in buf.items()}
    adv, running = np.zeros_like(data["rew"]), np.zeros(cfg.envs, "float32")
    for t in reversed(range(cfg.horizon)):
        nxt = last if t == cfg.horizon - 1 else data["val"][t + 1]
        alive = 1.0 - data["done"][t]
        delta = data["rew"][t] + cfg.gamma * nxt * alive - data["val"][t]
        running = delta + cfg.gamma * cfg.lam * alive * running
        adv[t] = running
    flat = [data[k].reshape((-1,) + data[k].shape[2:]) for k in ("obs", "act", "logp")]
    ret = (adv + data["val"]).reshape(-1)
    adv = adv.reshape(-1)
    return flat + [(adv - adv.mean()) / (adv.std() + 1e-8), ret], docked_total / max(done_total, 1)


def evaluate(agent, seed=777):
    env = Docking(32, np.random.default_rng(seed))
    total = 0.0
    for _ in range(env.limit):
        rew, _, _ = env.step(agent.mean_action(env.observe()).numpy())
        total += rew.mean()
    return total


def main():
    cfg = Config()
    rng = np.random.default_rng(1)
    tf.keras.utils.set_random_seed(1)
    env = Docking(cfg.envs, rng)
    agent = PPO(cfg, 7, 3)
    n = cfg.envs * cfg.horizon
    started = time.time()
    for upd in range(1, cfg.updates + 1):
        rollout, success = collect(agent, env, cfg)
        for _ in range(cfg.epochs):
            for part in np.array_split(rng.permutation(n), cfg.minibatches):
                policy, value, kl = agent.update(*(col[part] for col in rollout))
        print(
            "update %3d success %.2f value %.3f kl %.4f" % (upd, success, float(value), float(kl))
        )
        if upd % cfg.eval_every == 0:
            print("  evaluation return %.2f (%.1f s)" % (evaluate(agent), time.time() - started))
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()

"""PPO on a vectorized cart-pole; a rollout lasts until every pole of the fleet has fallen."""

import argparse

import numpy as np
import tensorflow as tf


class CartPoleFleet:
    """The usual cart-pole equations for many carts at once."""

    def __init__(self, n, limit, seed):
        self.n, self.limit = n, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, size=(self.n, 4))
        self.alive = np.ones(self.n, bool)
        self.t = 0
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, th, om = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        sin, cos = np.sin(th), np.cos(th)
        temp = (force + 0.05 * om**2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        acc = temp - 0.05 * acc_th * cos / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * om, om + 0.02 * acc_th], 1)
        self.t += 1
        was_alive = self.alive.copy()
        fallen = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.21)
        self.alive &= ~fallen
        return (
            self.state.astype(np.float32),
            was_alive.astype(np.float32),
            (not self.alive.any()) or self.t >= self.limit,
        )


def mlp(out):
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(out),
        ]
    )


F = tf.float32


class PPO:
    def __init__(self, lr, clip):
        self.policy, self.value = mlp(2), mlp(1)
        self.opt_p = tf.keras.optimizers.Adam(lr)
        self.opt_v = tf.keras.optimizers.Adam(3 * lr)
        self.clip = clip

    @tf.function(input_signature=[tf.TensorSpec([None, 4], F)])
    def act(self, obs):
        logits = self.policy(obs)
        action = tf.squeeze(tf.random.categorical(logits, 1), 1)
        logp = tf.gather(tf.nn.log_softmax(logits), action, batch_dims=1)
        return action, logp

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 4], F),
            tf.TensorSpec([None], tf.int64),
            tf.TensorSpec([None], F),
            tf.TensorSpec([None], F),
        ]
    )
    def update(self, obs, action, logp_old, ret):
        with tf.GradientTape(persistent=False) as tv:
            v = tf.squeeze(self.value(obs), 1)
            loss_v = tf.reduce_mean(tf.square(ret - v))
        gv = tv.gradient(loss_v, self.value.trainable_variables)
        self.opt_v.apply_gradients(zip(gv, self.value.trainable_variables))
        adv = ret - v
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
        with tf.GradientTape() as tp:
            logp_all = tf.nn.log_softmax(self.policy(obs))
            ratio = tf.exp(tf.gather(logp_all, action, batch_dims=1) - logp_old)
            clipped = tf.clip_by_value(ratio, 1 - self.clip, 1 + self.clip)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, 1))
            loss_p = -tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv)) - 0.01 * entropy
        gp = tp.gradient(loss_p, self.policy.trainable_variables)
        self.opt_p.apply_gradients(zip(gp, self.policy.trainable_variables))
        return loss_p, loss_v


def rollout(agent, fleet, gamma):
    obs_l, act_l, logp_l, rew_l = [], [], [], []
    obs, over = fleet.reset(), False
    while not over:
        action, logp = agent.act(tf.constant(obs))
        nxt, reward, over = fleet.step(action.numpy())
        obs_l.append(obs)
        act_l.append(action.numpy())
        logp_l.append(logp.numpy())
        rew_l.append(reward)
        obs = nxt
    rewards = np.stack(rew_l)
    returns = np.zeros_like(rewards)
    acc = np.zeros(fleet.n, np.float32)
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * acc
        returns[t] = acc
    live = rewards > 0
    return (
        np.stack(obs_l)[live],
        np.stack(act_l)[live],
        np.stack(logp_l)[live],
        returns[live] / 50.0,
        rewards.sum(0).mean(),
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=60)
    p.add_argument("--carts", type=int, default=32)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--minibatch", type=int, default=512)
    p.add_argument("--limit", type=int, default=400)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--lr", type=float, default=5e-4)
    a = p.parse_args()
    tf.keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    agent, fleet = PPO(a.lr, 0.2), CartPoleFleet(a.carts, a.limit, 2)
    for it in range(1, a.iterations + 1):
        obs, act, logp, ret, length = rollout(agent, fleet, a.gamma)
        for _ in range(a.epochs):
            order = rng.permutation(len(obs))
            for s in range(0, len(order), a.minibatch):
                k = order[s : s + a.minibatch]
                loss_p, loss_v = agent.update(obs[k], act[k], logp[k], ret[k])
        print(f"iter {it:3d}  episode length {length:6.1f}  value loss {float(loss_v):.4f}")


if __name__ == "__main__":
    main()

"""Advantage actor-critic for a tightrope walker with a balancing pole.

Sixteen walkers at once, the physics in TensorFlow.  Rewards are divided by
the standard deviation of all the rewards seen so far, which keeps the
learning rate comparable between rope lengths.
"""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    walkers: int = 16
    horizon: int = 32
    updates: int = 380
    gamma: float = 0.97
    hidden: int = 128
    lr: float = 7e-4
    entropy: float = 0.01
    seed: int = 9


class Rope(tf.Module):
    """State: lean, lean rate, pole angle, pole rate, gust."""

    def __init__(self, walkers, seed):
        super().__init__()
        self.gen = tf.random.Generator.from_seed(seed)
        self.state = tf.Variable(self.gen.normal((walkers, 5), stddev=0.05))

    @tf.function
    def step(self, push):
        lean, rate, pole, pole_rate, gust = tf.unstack(self.state, axis=1)
        gust = 0.95 * gust + 0.1 * self.gen.normal(tf.shape(gust))
        torque = tf.cast(push, tf.float32) - 1.0
        for _ in range(4):
            acc = 4.0 * tf.sin(lean) - 1.8 * pole + 0.5 * gust
            pole_rate += 0.0125 * (6.0 * torque - 0.6 * pole_rate)
            pole += 0.0125 * pole_rate
            rate += 0.0125 * acc
            lean += 0.0125 * rate
        fallen = tf.abs(lean) > 0.5
        reward = 1.0 - 2.0 * tf.abs(lean) - 0.05 * tf.abs(torque)
        reward = tf.where(fallen, -5.0, reward)
        new = tf.stack([lean, rate, pole, pole_rate, gust], axis=1)
        fresh = self.gen.normal(tf.shape(new), stddev=0.05)
        self.state.assign(tf.where(fallen[:, None], fresh, new))
        return self.state.read_value(), reward, tf.cast(fallen, tf.float32)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        tf.keras.utils.set_random_seed(cfg.seed)
        self.rope = Rope(cfg.walkers, cfg.seed)
        inp = tf.keras.Input((5,))
        h = tf.keras.layers.Dense(cfg.hidden, activation="tanh")(inp)
        h = tf.keras.layers.Dense(cfg.hidden, activation="tanh")(h)
        policy = tf.keras.layers.Dense(3)(h)
        value = tf.keras.layers.Dense(1)(h)
        self.net = tf.keras.Model(inp, [policy, value])
        self.opt = tf.keras.optimizers.Adam(cfg.lr, global_clipnorm=0.5)
        self.rewards_seen = []

    @tf.function
    def act(self, state):
        logits, _ = self.net(state)
        return tf.random.categorical(logits, 1)[:, 0]

    def collect(self):
        states, actions, rewards, dones = [], [], [], []
        state = self.rope.state.read_value()
        for _ in range(self.cfg.horizon):
            action = self.act(state)
            nxt, reward, done = self.rope.step(action)
            states.append(state)
            actions.append(action)
            rewards.append(reward)
            dones.append(done)
            state = nxt
        return (tf.stack(states), tf.stack(actions), rewards, tf.stack(dones), state)

    def reward_scale(self, rewards):
        self.rewards_seen.extend(rewards)
        return float(np.std(np.array(self.rewards_seen))) + 1e-6

    @tf.function
    def update(self, states, actions, rewards, dones, last):
        cfg = self.cfg
        _, boot = self.net(last)
        ret = boot[:, 0]
        returns = tf.TensorArray(tf.float32, size=cfg.horizon)
        for t in tf.range(cfg.horizon - 1, -1, -1):
            ret = rewards[t] + cfg.gamma * ret * (1.0 - dones[t])
            returns = returns.write(t, ret)
        target = tf.reshape(returns.stack(), [-1])
        flat = tf.reshape(states, [-1, 5])
        chosen = tf.reshape(actions, [-1])
        with tf.GradientTape() as tape:
            logits, value = self.net(flat)
            value = value[:, 0]
            logp = tf.nn.log_softmax(logits)
            adv = tf.stop_gradient(target - value)
            taken = tf.gather(logp, chosen, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            loss = (
                -tf.reduce_mean(taken * adv)
                + 0.5 * tf.reduce_mean((target - value) ** 2)
                - cfg.entropy * entropy
            )
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def run(self):
        for k in range(1, self.cfg.updates + 1):
            states, actions, rewards, dones, last = self.collect()
            scale = self.reward_scale(rewards)
            scaled = tf.stack(rewards) / scale
            loss = self.update(states, actions, scaled, dones, last)
            if k % 25 == 0:
                falls = float(tf.reduce_sum(dones))
                print(f"update {k:4d}  loss {float(loss):8.3f}  falls {falls:.0f}")


if __name__ == "__main__":
    Trainer(Config()).run()

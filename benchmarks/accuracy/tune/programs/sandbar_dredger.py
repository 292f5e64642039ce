"""Dredging policy for a drifting sandbar. Everything, the estuary included, lives in the graph."""

import numpy as np
import tensorflow as tf

CELLS = 32
BOATS = 640
ACTIONS = 5
GAMMA = 0.97
UPDATES = 270


class Estuary:
    """Bed heights along the fairway; a dredger moves or digs; the tide brings sand."""

    def __init__(self):
        self.place = tf.range(CELLS, dtype=tf.float32)[None]

    def reset(self):
        bed = tf.random.uniform([BOATS, CELLS], 0.0, 0.4)
        at = tf.random.uniform([BOATS], 0, CELLS, tf.int32)
        return bed, at

    def observe(self, bed, at, t):
        phase = tf.cast(t, tf.float32) * 0.2
        clock = tf.ones([BOATS, 1]) * tf.stack([tf.sin(phase), tf.cos(phase)])[None]
        return tf.concat([bed, tf.one_hot(at, CELLS), clock], 1)

    def step(self, bed, at, action, t):
        move = tf.gather(tf.constant([0, -1, 1, -4, 4]), action)
        at = tf.clip_by_value(at + move, 0, CELLS - 1)
        dug = tf.one_hot(at, CELLS) * tf.cast(action == 0, tf.float32)[:, None]
        centre = CELLS * (0.5 + 0.4 * tf.sin(tf.cast(t, tf.float32) * 0.05))
        tide = 0.03 * tf.exp(-(((self.place - centre) / 5.0) ** 2))
        bed = tf.nn.relu(bed * (1 - 0.7 * dug) + tide + tf.random.normal([BOATS, CELLS], 0, 0.004))
        reward = -tf.reduce_max(bed, 1) - 0.02 * tf.abs(tf.cast(move, tf.float32))
        return bed, at, reward


def mlp(out, width=192):
    return tf.keras.Sequential(
        [
            tf.keras.Input((2 * CELLS + 2,)),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(out),
        ]
    )


class Captain:
    def __init__(self):
        self.sea = Estuary()
        self.policy, self.value = mlp(ACTIONS), mlp(1)
        self.vars = self.policy.trainable_variables + self.value.trainable_variables
        self.opt = tf.keras.optimizers.Adam(7e-4)
        self.opt.build(self.vars)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def update(self, horizon):
        obs_ta = tf.TensorArray(tf.float32, horizon)
        act_ta = tf.TensorArray(tf.int32, horizon)
        rew_ta = tf.TensorArray(tf.float32, horizon)
        bed, at = self.sea.reset()
        for t in tf.range(horizon):
            obs = self.sea.observe(bed, at, t)
            act = tf.random.categorical(self.policy(obs), 1, dtype=tf.int32)[:, 0]
            bed, at, rew = self.sea.step(bed, at, act, t)
            obs_ta = obs_ta.write(t, obs)
            act_ta = act_ta.write(t, act)
            rew_ta = rew_ta.write(t, rew)
        rew = rew_ta.stack()
        returns = tf.scan(lambda acc, r: r + GAMMA * acc, rew, tf.zeros([BOATS]), reverse=True)
        obs = tf.reshape(obs_ta.stack(), [-1, 2 * CELLS + 2])
        act = tf.reshape(act_ta.stack(), [-1])
        ret = tf.reshape(returns, [-1])
        with tf.GradientTape() as tape:
            logits = self.policy(obs)
            v = self.value(obs)[:, 0]
            adv = tf.stop_gradient(ret - v)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(act, logits)
            p = tf.nn.softmax(logits)
            entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), 1))
            loss = tf.reduce_mean(nll * adv) + 0.5 * tf.reduce_mean((ret - v) ** 2) - 0.01 * entropy
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.vars), 1.0)
        self.opt.apply_gradients(zip(grads, self.vars))
        return tf.reduce_mean(rew), entropy


def main():
    tf.keras.utils.set_random_seed(19)
    captain = Captain()
    horizon, level = 6, None
    for k in range(1, UPDATES + 1):
        reward, entropy = captain.update(tf.constant(horizon))
        level = float(reward) if level is None else 0.9 * level + 0.1 * float(reward)
        if k % 10 == 0:
            horizon = min(48, horizon + 2)
        if k % 30 == 0:
            print(
                f"update {k:3d} voyage {horizon:3d} reward {level:.4f} entropy {float(entropy):.3f}"
            )


if __name__ == "__main__":
    main()

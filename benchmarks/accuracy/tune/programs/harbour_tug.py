"""A tug learns to push a barge onto its berth (clipped policy gradient).

Many harbours run side by side in NumPy.  The horizon of the roll-outs is
raised as the policy becomes able to use it.
"""

import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BOATS = 64
OBS = 10
ACTIONS = 2
HORIZONS = [(32, 24), (64, 24), (128, 22), (192, 17)]
MINIBATCH = 256
PASSES = 4
GAMMA, LAMBDA, CLIP = 0.985, 0.95, 0.2


class Harbour:
    """Point-mass barges with drag, a current and a berth at the origin."""

    def __init__(self, boats, seed):
        self.rng = np.random.default_rng(seed)
        self.boats = boats
        self.reset_all()

    def reset_all(self):
        n = self.boats
        self.pos = self.rng.uniform(-2, 2, size=(n, 2))
        self.vel = self.rng.normal(size=(n, 2)) * 0.1
        self.current = self.rng.normal(size=(n, 2)) * 0.15
        self.mass = self.rng.uniform(0.7, 1.6, size=(n, 1))
        return self.observe()

    def observe(self):
        far = np.linalg.norm(self.pos, axis=1, keepdims=True)
        speed = np.linalg.norm(self.vel, axis=1, keepdims=True)
        return np.concatenate(
            [self.pos, self.vel, self.current, self.mass, far, speed, self.mass * speed], axis=1
        ).astype(np.float32)

    def step(self, push):
        push = np.clip(push, -1, 1)
        before = np.linalg.norm(self.pos, axis=1)
        for _ in range(4):
            drag = 0.6 * (self.vel - self.current)
            self.vel = self.vel + 0.05 * (push * 1.5 - drag) / self.mass
            self.pos = np.clip(self.pos + 0.05 * self.vel, -4, 4)
        after = np.linalg.norm(self.pos, axis=1)
        berth = (after < 0.25) & (np.linalg.norm(self.vel, axis=1) < 0.3)
        reward = before - after + 0.3 * berth - 0.02 * (push**2).sum(1)
        return self.observe(), reward.astype(np.float32), berth


class Captain(keras.Model):
    def __init__(self):
        super().__init__()
        self.actor = keras.Sequential(
            [layers.Dense(192, "tanh"), layers.Dense(192, "tanh"), layers.Dense(ACTIONS)]
        )
        self.judge = keras.Sequential(
            [layers.Dense(256, "tanh"), layers.Dense(256, "tanh"), layers.Dense(1)]
        )
        self.spread = self.add_weight(
            shape=(ACTIONS,), name="spread", initializer=keras.initializers.Constant(-0.5)
        )

    def call(self, obs):
        return self.actor(obs), self.judge(obs)[:, 0]


def log_prob(mean, spread, action):
    z = (action - mean) / tf.exp(spread)
    return tf.reduce_sum(-0.5 * z * z - spread, axis=-1)


def advantages(reward, value, last):
    out = np.zeros_like(reward)
    carry = np.zeros(reward.shape[1], np.float32)
    for t in reversed(range(len(reward))):
        ahead = last if t == len(reward) - 1 else value[t + 1]
        delta = reward[t] + GAMMA * ahead - value[t]
        carry = delta + GAMMA * LAMBDA * carry
        out[t] = carry
    return out


def main():
    keras.utils.set_random_seed(29)
    rng = np.random.default_rng(30)
    harbour = Harbour(BOATS, seed=31)
    captain = Captain()
    captain(tf.zeros([1, OBS]))
    weights = captain.trainable_variables
    optimizer = keras.optimizers.Adam(4e-4)
    optimizer.build(weights)

    @tf.function
    def act(obs):
        mean, value = captain(obs)
        spread = tf.convert_to_tensor(captain.spread)
        action = mean + tf.exp(spread) * tf.random.normal(tf.shape(mean))
        return action, log_prob(mean, spread, action), value

    @tf.function
    def update(obs, action, old, adv, target):
        with tf.GradientTape() as tape:
            mean, value = captain(obs)
            new = log_prob(mean, tf.convert_to_tensor(captain.spread), action)
            ratio = tf.exp(new - old)
            gain = tf.minimum(ratio * adv, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * adv)
            loss = tf.reduce_mean((value - target) ** 2) * 0.5 - tf.reduce_mean(gain)
        grads = tape.gradient(loss, weights)
        grads, _ = tf.clip_by_global_norm(grads, 0.5)
        optimizer.apply_gradients(zip(grads, weights))
        return loss

    began = time.time()
    for horizon, rounds in HORIZONS:
        for _ in range(rounds):
            obs = harbour.reset_all()
            store = {k: [] for k in ("obs", "act", "old", "val", "rew")}
            berthed = 0.0
            for _ in range(horizon):
                action, old, value = (t.numpy() for t in act(obs))
                store["obs"].append(obs)
                obs, reward, berth = harbour.step(action)
                for key, item in zip(("act", "old", "val", "rew"), (action, old, value, reward)):
                    store[key].append(item)
                berthed += berth.mean()
            last = act(obs)[2].numpy()
            val, rew = np.stack(store["val"]), np.stack(store["rew"])
            adv = advantages(rew, val, last)
            flat = [np.concatenate(store[k]) for k in ("obs", "act", "old")]
            target = (adv + val).reshape(-1)
            adv = adv.reshape(-1)
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
            for _ in range(PASSES):
                order = rng.permutation(len(adv))
                for i in range(0, len(order), MINIBATCH):
                    p = order[i : i + MINIBATCH]
                    update(*(a[p] for a in (*flat, adv, target)))
        print(
            f"horizon {horizon:3d}  reward/step {rew.mean():.4f}  "
            f"berthed {berthed / horizon:.3f}  "
            f"{time.time() - began:.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()

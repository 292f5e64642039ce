"""Policy gradient for a dog sled that must save its team's strength."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import shutil
import tempfile
import time

import numpy as np
import tensorflow as tf

HORIZON, TEAMS, OBS, ACTIONS = 40, 192, 6, 4


class Policy(tf.Module):
    def __init__(self, hidden=192):
        super().__init__()
        g = tf.random.Generator.from_seed(8)
        self.w1 = tf.Variable(g.normal([OBS, hidden]) * 0.4)
        self.w2 = tf.Variable(g.normal([hidden, hidden]) * 0.08)
        self.wp = tf.Variable(g.normal([hidden, ACTIONS]) * 0.02)
        self.wv = tf.Variable(g.normal([hidden, 1]) * 0.02)

    def __call__(self, obs):
        h = tf.tanh(tf.tanh(obs @ self.w1) @ self.w2)
        return h @ self.wp, (h @ self.wv)[..., 0]


def dynamics(state, action):
    dist, speed, strength, slope, wind, t = tf.unstack(state, axis=-1)
    push = tf.cast(action, tf.float32) / (ACTIONS - 1)
    speed = 0.8 * speed + 0.4 * push * strength - 0.1 * slope - 0.05 * wind
    strength = tf.clip_by_value(strength - 0.06 * push + 0.015, 0.0, 1.0)
    slope = 0.9 * slope + 0.2 * tf.random.normal(tf.shape(slope))
    wind = 0.95 * wind + 0.1 * tf.random.normal(tf.shape(wind))
    nxt = tf.stack([dist + speed, speed, strength, slope, wind, t + 1.0 / HORIZON], -1)
    return nxt, speed - 0.3 * tf.cast(strength < 0.05, tf.float32)


@tf.function
def rollout(policy):
    zero = tf.zeros([TEAMS])
    state = tf.stack([zero, zero, zero + 1, zero, zero, zero], -1)
    obs = tf.TensorArray(tf.float32, HORIZON)
    act = tf.TensorArray(tf.int32, HORIZON)
    rew = tf.TensorArray(tf.float32, HORIZON)
    for t in tf.range(HORIZON):
        logits, _ = policy(state)
        a = tf.random.categorical(logits, 1, dtype=tf.int32)[:, 0]
        obs, act = obs.write(t, state), act.write(t, a)
        state, r = dynamics(state, a)
        rew = rew.write(t, r)
    rewards = rew.stack()
    returns = tf.cumsum(rewards, axis=0, reverse=True)
    return obs.stack(), act.stack(), rewards, returns


class Archive:
    """Keeps the trips, so that the analysts may replay them later."""

    def __init__(self, folder, keep):
        self.folder, self.keep, self.trips = folder, keep, []

    def add(self, *parts):
        self.trips.append([p.numpy() for p in parts])
        self.trips = self.trips[-self.keep :]

    def store(self):
        for j, name in enumerate(("obs", "act", "rewards", "returns")):
            path = os.path.join(self.folder, name + ".npy")
            with open(path + ".new", "wb") as f:
                np.save(f, np.stack([t[j] for t in self.trips]))
                f.flush()
                os.fsync(f.fileno())
            os.replace(path + ".new", path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=150)
    ap.add_argument("--keep", type=int, default=120)
    args = ap.parse_args()
    tf.random.set_seed(8)
    policy = Policy()
    opt = tf.keras.optimizers.Adam(2e-3)
    opt.build(policy.trainable_variables)

    @tf.function
    def improve(obs, act, returns):
        with tf.GradientTape() as tape:
            logits, value = policy(tf.reshape(obs, [-1, OBS]))
            ret = tf.reshape(returns, [-1])
            adv = ret - tf.stop_gradient(value)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.reshape(act, [-1]), logits=logits
            )
            loss = tf.reduce_mean(nll * adv + 0.5 * (ret - value) ** 2)
        v = policy.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    archive = Archive(tempfile.mkdtemp(), args.keep)
    t0 = time.time()
    for k in range(args.rounds):
        obs, act, rewards, returns = rollout(policy)
        improve(obs, act, returns)
        archive.add(obs, act, rewards, returns)
        archive.store()
        if k % 25 == 0:
            print(f"round {k:3d} mean trip {float(tf.reduce_mean(returns[0])):.3f}")
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))
    shutil.rmtree(archive.folder)


if __name__ == "__main__":
    main()

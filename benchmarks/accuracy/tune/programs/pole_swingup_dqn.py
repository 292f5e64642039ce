"""Double DQN with prioritised replay on a small pendulum swing-up written in NumPy."""

import os
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow import keras

SEED = 4
TORQUES = np.array([-2.0, -0.7, 0.0, 0.7, 2.0])
N_ENVS = 16
EP_LEN = 150
ITERS = 5600
WARM = 100
BATCH = 128
GAMMA = 0.98
ALPHA = 0.6
SYNC = 200


class Pendulums:
    """A bundle of independent pendulums that step together."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.reset()

    def reset(self):
        self.th = self.rng.uniform(-np.pi, np.pi, self.n)
        self.om = self.rng.uniform(-1, 1, self.n)
        self.t = 0
        return self.obs()

    def obs(self):
        return np.stack([np.cos(self.th), np.sin(self.th), self.om / 8], 1).astype(np.float32)

    def step(self, u):
        cost = (((self.th + np.pi) % (2 * np.pi)) - np.pi) ** 2 + 0.1 * self.om**2 + 0.001 * u**2
        self.om = np.clip(self.om + (15 * np.sin(self.th) + 3 * u) * 0.05, -8, 8)
        self.th = self.th + self.om * 0.05
        self.t += 1
        return self.obs(), (-0.1 * cost).astype(np.float32), self.t >= EP_LEN


class Replay:
    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.items = []
        self.priorities = []
        self.head = 0
        self.top = 1.0

    def add(self, item):
        if len(self.items) < self.capacity:
            self.items.append(item)
            self.priorities.append(self.top)
        else:
            self.items[self.head] = item
            self.priorities[self.head] = self.top
            self.head = (self.head + 1) % self.capacity

    def sample(self, n, beta):
        p = np.array(self.priorities)
        p /= p.sum()
        idx = self.rng.choice(len(self.items), n, p=p)
        w = (len(self.items) * p[idx]) ** -beta
        s, a, r, s2 = zip(*[self.items[i] for i in idx])
        batch = (np.stack(s), np.array(a, np.int32), np.array(r, np.float32), np.stack(s2))
        return idx, batch, (w / w.max()).astype(np.float32)

    def update(self, idx, td):
        for i, e in zip(idx, (np.abs(td) + 1e-3) ** ALPHA):
            self.priorities[i] = float(e)
            self.top = max(self.top, float(e))


def q_net():
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(len(TORQUES)),
        ]
    )


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    online, target = q_net(), q_net()
    target.set_weights(online.get_weights())
    opt = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(1e-3, 1000, 0.7))
    opt.build(online.trainable_variables)

    @tf.function
    def greedy(s):
        return tf.argmax(online(s), axis=1)

    @tf.function
    def learn(s, a, r, s2, w):
        best = tf.argmax(online(s2), axis=1, output_type=tf.int32)
        goal = r + GAMMA * tf.gather(target(s2), best, batch_dims=1)
        with tf.GradientTape() as tape:
            td = tf.gather(online(s), a, batch_dims=1) - tf.stop_gradient(goal)
            huber = tf.where(tf.abs(td) < 1, 0.5 * td**2, tf.abs(td) - 0.5)
            loss = tf.reduce_mean(w * huber)
        grads = tape.gradient(loss, online.trainable_variables)
        opt.apply_gradients(zip(grads, online.trainable_variables))
        return loss, td

    def evaluate():
        env = Pendulums(16, np.random.default_rng(99))
        s, done, total = env.obs(), False, 0.0
        while not done:
            s, r, done = env.step(TORQUES[greedy(s).numpy()])
            total += r.mean()
        return total

    env = Pendulums(N_ENVS, rng)
    memory = Replay(80_000, rng)
    s = env.obs()
    t0 = time.time()
    for it in range(1, ITERS + 1):
        eps = max(0.05, 1.0 - it / (0.4 * ITERS))
        a = greedy(s).numpy()
        explore = rng.random(N_ENVS) < eps
        a = np.where(explore, rng.integers(0, len(TORQUES), N_ENVS), a)
        s2, r, done = env.step(TORQUES[a])
        for j in range(N_ENVS):
            memory.add((s[j], a[j], r[j], s2[j]))
        s = env.reset() if done else s2
        if it <= WARM:
            continue
        beta = min(1.0, 0.4 + 0.6 * it / ITERS)
        idx, batch, w = memory.sample(BATCH, beta)
        loss, td = learn(*batch, w)
        memory.update(idx, td.numpy())
        if it % SYNC == 0:
            target.set_weights(online.get_weights())
        if it % 800 == 0:
            print(
                f"iter {it} replay {len(memory.items)} loss {float(loss):.4f} eps {eps:.2f} "
                f"return {evaluate():.2f} {time.time() - t0:.1f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Double DQN that learns to dock a harbour tug; many tugs simulated side by side."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

ACTIONS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], "float32")


class Harbour:
    """n tugs: position, speed, current.  Reward for closeness to the berth."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.state = self.fresh(n)

    def fresh(self, n):
        s = np.zeros((n, 6), "float32")
        s[:, :2] = self.rng.uniform(-1, 1, (n, 2))
        s[:, 4:] = self.rng.normal(0, 0.3, (n, 2))
        return s

    def step(self, action):
        s = self.state.copy()
        s[:, 2:4] = 0.95 * s[:, 2:4] + 0.05 * ACTIONS[action] + 0.01 * s[:, 4:]
        s[:, :2] += s[:, 2:4]
        dist = np.hypot(s[:, 0], s[:, 1])
        done = (dist > 2.0) | (self.rng.random(self.n) < 0.01)
        reward = (np.exp(-3 * dist) - (dist > 2.0)).astype("float32")
        before, after = self.state, s.copy()
        s[done] = self.fresh(int(done.sum()))
        self.state = s
        return before, reward, after, done.astype("float32")


class Memory:
    def __init__(self, size, seed):
        self.size, self.count, self.rng = size, 0, np.random.default_rng(seed)
        self.s, self.s2 = np.zeros((size, 6), "float32"), np.zeros((size, 6), "float32")
        self.a = np.zeros(size, "int32")
        self.r, self.d = np.zeros(size, "float32"), np.zeros(size, "float32")

    def add(self, s, a, r, s2, d):
        at = np.arange(self.count, self.count + len(a)) % self.size
        self.s[at], self.a[at], self.r[at], self.s2[at], self.d[at] = s, a, r, s2, d
        self.count += len(a)

    def sample(self, n):
        i = self.rng.integers(0, min(self.count, self.size), n)
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]


def q_net(width):
    return keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(width, activation="relu"),
            layers.Dense(width, activation="relu"),
            layers.Dense(len(ACTIONS)),
        ]
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=800)
    ap.add_argument("--learn-from", type=int, default=300)
    ap.add_argument("--batch", type=int, default=2048)
    args = ap.parse_args()
    keras.utils.set_random_seed(88)
    q, target = q_net(512), q_net(512)
    target.set_weights(q.get_weights())
    opt = keras.optimizers.Adam(5e-4)
    opt.build(q.trainable_variables)

    @tf.function
    def act(s):
        return tf.argmax(q(s), -1)

    @tf.function
    def learn(s, a, r, s2, d):
        best = tf.argmax(q(s2), -1, output_type=tf.int32)
        future = tf.gather(target(s2), best, batch_dims=1)
        goal = r + 0.97 * (1.0 - d) * future
        with tf.GradientTape() as tape:
            value = tf.gather(q(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - value))
        opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
        return loss

    port, memory = Harbour(64, seed=3), Memory(32_768, seed=4)
    rng, rewards, t0 = np.random.default_rng(5), [], time.time()
    for step in range(args.steps):
        eps = max(0.05, 1.0 - step / 600)
        action = act(port.state).numpy()
        explore = rng.random(port.n) < eps
        action[explore] = rng.integers(0, len(ACTIONS), explore.sum())
        s, r, s2, d = port.step(action)
        memory.add(s, action, r, s2, d)
        rewards.append(r.mean())
        if step >= args.learn_from:
            loss = learn(*memory.sample(args.batch))
            if step % 100 == 0:
                target.set_weights(q.get_weights())
                print(
                    f"step {step} loss {float(loss):.4f} reward {np.mean(rewards[-100:]):.3f} "
                    f"memory {min(memory.count, memory.size)} {time.time() - t0:.1f}s"
                )


if __name__ == "__main__":
    main()

"""Off-policy control of a cable ferry: one thread drives the (simulated) rig,
the main thread trains the policy from what has been recorded so far."""

import threading
import time

import numpy as np
import tensorflow as tf

OBS, ACT = 10, 3
BATCH = 256
UPDATES = 2200


class Rig:
    """A rig on a serial link: each command is answered after a few ms."""

    LATENCY = 0.010

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.a = np.eye(OBS) * 0.97 + self.rng.normal(0, 0.01, (OBS, OBS))
        self.b = self.rng.normal(0, 0.15, (OBS, ACT))
        self.reset()

    def reset(self):
        self.s = self.rng.normal(0, 1, OBS)
        return self.s.astype("float32")

    def command(self, u):
        time.sleep(self.LATENCY)
        self.s = self.a @ self.s + self.b @ u + self.rng.normal(0, 0.02, OBS)
        reward = -float(self.s @ self.s) - 0.05 * float(u @ u)
        return self.s.astype("float32"), reward


class Log:
    def __init__(self, capacity):
        self.s = np.zeros((capacity, OBS), "float32")
        self.a = np.zeros((capacity, ACT), "float32")
        self.r = np.zeros((capacity, 1), "float32")
        self.n = np.zeros((capacity, OBS), "float32")
        self.size = self.head = 0
        self.capacity = capacity

    def add(self, s, a, r, n):
        i = self.head
        self.s[i], self.a[i], self.r[i], self.n[i] = s, a, r, n
        self.head = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, rng):
        i = rng.integers(0, self.size, BATCH)
        return self.s[i], self.a[i], self.r[i], self.n[i]


class Driver(threading.Thread):
    def __init__(self, rig, log, guard, weights):
        super().__init__(daemon=True)
        self.rig, self.log, self.guard = rig, log, guard
        self.weights = weights
        self.stop = threading.Event()
        self.rng = np.random.default_rng(8)

    def act(self, s):
        w = self.weights["w"]
        return np.tanh(s @ w) + self.rng.normal(0, 0.2, ACT)

    def run(self):
        s = self.rig.reset()
        k = 0
        while not self.stop.is_set():
            with self.guard:
                u = self.act(s)
                n, r = self.rig.command(u)
                self.log.add(s, u, r, n)
            k += 1
            s = self.rig.reset() if k % 100 == 0 else n
            time.sleep(0.0005)


def mlp(sizes, name):
    return tf.keras.Sequential(
        [tf.keras.Input((sizes[0],))]
        + [tf.keras.layers.Dense(k, activation="relu") for k in sizes[1:-1]]
        + [tf.keras.layers.Dense(sizes[-1])],
        name=name,
    )


critic = mlp([OBS + ACT, 384, 384, 1], "critic")
slow = mlp([OBS + ACT, 384, 384, 1], "slow")
slow.set_weights(critic.get_weights())
gain = tf.Variable(tf.random.normal((OBS, ACT), stddev=0.05, seed=1))
opt_c = tf.keras.optimizers.Adam(1e-3)
opt_a = tf.keras.optimizers.Adam(3e-4)


@tf.function
def update(s, a, r, n):
    target = r * 0.1 + 0.97 * slow(tf.concat([n, tf.tanh(n @ gain)], 1))
    with tf.GradientTape() as tape:
        q = critic(tf.concat([s, a], 1))
        loss = tf.reduce_mean((q - target) ** 2)
    g = tape.gradient(loss, critic.trainable_variables)
    opt_c.apply_gradients(zip(g, critic.trainable_variables))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(gain)
        value = -tf.reduce_mean(critic(tf.concat([s, tf.tanh(s @ gain)], 1)))
    opt_a.apply_gradients([(tape.gradient(value, gain), gain)])
    for v, w in zip(slow.trainable_variables, critic.trainable_variables):
        v.assign(0.99 * v + 0.01 * w)
    return loss


def main():
    rng = np.random.default_rng(2)
    log, guard, shared = Log(50_000), threading.Lock(), {"w": gain.numpy()}
    driver = Driver(Rig(4), log, guard, shared)
    driver.start()
    while log.size < 300:
        time.sleep(0.05)
    for step in range(UPDATES):
        with guard:
            batch = log.sample(rng)
        loss = update(*map(tf.constant, batch))
        if step % 20 == 0:
            shared["w"] = gain.numpy()
        if step % 150 == 0:
            print(step, "td", round(float(loss), 4), "recorded", log.size, flush=True)
    driver.stop.set()
    driver.join()


if __name__ == "__main__":
    main()

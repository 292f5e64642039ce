"""Double DQN that learns to steer a punt between river banks (NumPy river, TF learner)."""

import argparse
import collections

import numpy as np
import tensorflow as tf

SONAR = 60
ACTIONS = 5


class River:
    """A fleet of punts on bending rivers; each sees SONAR distances to the banks."""

    def __init__(self, fleet, rng):
        self.fleet, self.rng = fleet, rng
        self.angles = np.linspace(-1.2, 1.2, SONAR).astype("float32")
        self.offset = np.zeros(fleet, "float32")
        self.heading = np.zeros(fleet, "float32")
        self.phase = rng.uniform(0, 6.28, fleet).astype("float32")
        self.t = np.zeros(fleet, "int32")

    def observe(self):
        bend = np.sin(self.phase)[:, None]
        ray = self.angles[None] + self.heading[:, None] + 0.2 * bend
        left = (1.0 - self.offset)[:, None] / (np.abs(np.sin(ray)) + 0.1)
        right = (1.0 + self.offset)[:, None] / (np.abs(np.sin(ray)) + 0.1)
        dist = np.where(ray > 0, left, right)
        noise = self.rng.normal(0, 0.02, dist.shape)
        return np.clip(dist + noise, 0, 6).astype("float32")

    def step(self, action):
        push = (action - 2).astype("float32") * 0.08
        self.heading = 0.9 * self.heading + push
        self.phase += 0.05
        self.offset += 0.1 * self.heading + 0.03 * np.sin(self.phase)
        self.t += 1
        aground = np.abs(self.offset) > 1.0
        reward = (1.0 - np.abs(self.offset) - 0.1 * np.abs(push)).astype("float32")
        reward[aground] = -5.0
        done = aground | (self.t >= 200)
        n = int(done.sum())
        if n:
            self.offset[done] = self.rng.uniform(-0.4, 0.4, n)
            self.heading[done] = 0.0
            self.phase[done] = self.rng.uniform(0, 6.28, n)
            self.t[done] = 0
        return self.observe(), reward, done.astype("float32")


class Memory:
    """Keeps the latest `capacity` transitions, oldest first."""

    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.size = 0
        self.obs = np.zeros((capacity, SONAR), "float32")
        self.nxt = np.zeros((capacity, SONAR), "float32")
        self.act = np.zeros(capacity, "int32")
        self.rew = np.zeros(capacity, "float32")
        self.done = np.zeros(capacity, "float32")

    def add(self, obs, act, rew, nxt, done):
        n = len(act)
        new = dict(obs=obs, act=act, rew=rew, nxt=nxt, done=done)
        if self.size + n <= self.capacity:
            for key, value in new.items():
                getattr(self, key)[self.size : self.size + n] = value
            self.size += n
            return
        for key, value in new.items():
            column = np.roll(getattr(self, key), -n, axis=0)
            column[-n:] = value
            setattr(self, key, column)

    def sample(self, n):
        i = self.rng.integers(0, self.size, n)
        return self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.done[i]


def q_network():
    inp = tf.keras.Input((SONAR,))
    x = tf.keras.layers.Dense(128, activation="relu")(inp)
    x = tf.keras.layers.Dense(128, activation="relu")(x)
    value = tf.keras.layers.Dense(1)(x)
    adv = tf.keras.layers.Dense(ACTIONS)(x)
    out = tf.keras.layers.Lambda(
        lambda va: va[0] + va[1] - tf.reduce_mean(va[1], axis=1, keepdims=True)
    )([value, adv])
    return tf.keras.Model(inp, out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=8000)
    ap.add_argument("--fleet", type=int, default=32)
    ap.add_argument("--capacity", type=int, default=32000)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--gamma", type=float, default=0.98)
    ap.add_argument("--sync", type=int, default=200)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    online, target = q_network(), q_network()
    target.set_weights(online.get_weights())
    optimizer = tf.keras.optimizers.Adam(5e-4)

    @tf.function
    def greedy(obs):
        return tf.argmax(online(obs), axis=1, output_type=tf.int32)

    @tf.function
    def learn(obs, act, rew, nxt, done):
        best = tf.argmax(online(nxt), axis=1, output_type=tf.int32)
        future = tf.gather(target(nxt), best, batch_dims=1)
        goal = rew + args.gamma * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.gather(online(obs), act, batch_dims=1)
            loss = tf.reduce_mean(tf.keras.losses.huber(goal[:, None], q[:, None]))
        grads = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(grads, online.trainable_variables))
        return loss

    river = River(args.fleet, rng)
    memory = Memory(args.capacity, rng)
    rewards = collections.deque(maxlen=200)
    obs = river.observe()
    for it in range(args.iterations):
        eps = max(0.05, 1.0 - it / 1500)
        act = greedy(obs).numpy()
        explore = rng.random(args.fleet) < eps
        act = np.where(explore, rng.integers(0, ACTIONS, args.fleet), act).astype("int32")
        nxt, rew, done = river.step(act)
        memory.add(obs, act, rew, nxt, done)
        obs = nxt
        rewards.append(rew.mean())
        loss = learn(*memory.sample(args.batch))
        if (it + 1) % args.sync == 0:
            target.set_weights(online.get_weights())
            print(f"it {it + 1} loss {float(loss):.4f} reward {np.mean(rewards):.3f}", flush=True)


if __name__ == "__main__":
    main()

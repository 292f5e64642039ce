# Double DQN with prioritised replay on a small warehouse pick-up grid.
import collections
import random
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIZE = 9
N_ACTIONS = 4
GAMMA = 0.97
BATCH = 64
CAPACITY = 20_000
TOTAL_STEPS = 19_000
LEARN_EVERY = 2
WARMUP = 3_000
SYNC_EVERY = 300
ALPHA, BETA = 0.6, 0.4

random.seed(1)
np.random.seed(1)
tf.random.set_seed(1)


class Warehouse:
    """Robot has to fetch a parcel and bring it to the dock; shelves block."""

    def __init__(self):
        self.rng = np.random.RandomState(3)
        self.shelves = self.rng.rand(SIZE, SIZE) < 0.15
        self.shelves[0, 0] = False
        self.reset()

    def _free_cell(self):
        while True:
            p = self.rng.randint(0, SIZE, 2)
            if not self.shelves[p[0], p[1]]:
                return p

    def reset(self):
        self.pos = self._free_cell()
        self.parcel = self._free_cell()
        self.loaded = False
        self.t = 0
        return self.obs()

    def obs(self):
        planes = np.zeros((3, SIZE, SIZE), np.float32)
        planes[0, self.pos[0], self.pos[1]] = 1.0
        if not self.loaded:
            planes[1, self.parcel[0], self.parcel[1]] = 1.0
        planes[2] = self.shelves
        return np.append(planes.ravel(), np.float32(self.loaded))

    def step(self, a):
        d = [(-1, 0), (1, 0), (0, -1), (0, 1)][a]
        nxt = np.clip(self.pos + d, 0, SIZE - 1)
        reward = -0.02
        if self.shelves[nxt[0], nxt[1]]:
            reward -= 0.05
        else:
            self.pos = nxt
        if not self.loaded and (self.pos == self.parcel).all():
            self.loaded = True
            reward += 0.5
        done = False
        if self.loaded and self.pos[0] == 0 and self.pos[1] == 0:
            reward += 1.0
            done = True
        self.t += 1
        return self.obs(), reward, done, done or self.t >= 120


Transition = collections.namedtuple("Transition", "s a r s2 done")


class PrioritizedReplay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.data = []
        self.priority = []
        self.write = 0

    def add(self, tr):
        p = max(self.priority[-100:], default=1.0)
        if len(self.data) < self.capacity:
            self.data.append(tr)
            self.priority.append(p)
        else:
            self.data[self.write] = tr
            self.priority[self.write] = p
        self.write = (self.write + 1) % self.capacity

    def sample(self, n):
        scaled = np.array([p**ALPHA for p in self.priority])
        prob = scaled / scaled.sum()
        idx = np.random.choice(len(self.data), n, p=prob)
        w = (len(self.data) * prob[idx]) ** (-BETA)
        rows = [self.data[i] for i in idx]
        cols = [np.array(c) for c in zip(*rows)]
        return idx, (w / w.max()).astype(np.float32), cols

    def update(self, idx, td):
        for i, e in zip(idx, td):
            self.priority[i] = float(abs(e)) + 1e-3


def build_net():
    inp = keras.Input((3 * SIZE * SIZE + 1,))
    x = keras.layers.Dense(256, activation="relu")(inp)
    x = keras.layers.Dense(256, activation="relu")(x)
    v = keras.layers.Dense(1)(keras.layers.Dense(64, activation="relu")(x))
    a = keras.layers.Dense(N_ACTIONS)(keras.layers.Dense(64, activation="relu")(x))
    return keras.Model(inp, v + a)


online = build_net()
target = keras.models.clone_model(online)
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(5e-4, clipnorm=10.0)
optimizer.build(online.trainable_variables)


@tf.function
def greedy(obs):
    return tf.argmax(online(obs[None])[0])


@tf.function
def learn(target_net, s, a, r, s2, done, w):
    best = tf.argmax(online(s2), axis=1)
    q_next = tf.gather(target_net(s2), best, axis=1, batch_dims=1)
    y = r + GAMMA * (1.0 - done) * q_next
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        td = tf.stop_gradient(y) - q
        loss = tf.reduce_mean(w * tf.square(td))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss, td


env = Warehouse()
memory = PrioritizedReplay(CAPACITY)
obs = env.reset()
returns, ep_ret, updates = collections.deque(maxlen=40), 0.0, 0
t0 = time.time()

for step in range(1, TOTAL_STEPS + 1):
    eps = max(0.05, 1.0 - step / (0.6 * TOTAL_STEPS))
    if random.random() < eps:
        action = random.randrange(N_ACTIONS)
    else:
        action = int(greedy(tf.constant(obs)))
    nxt, reward, done, over = env.step(action)
    memory.add(Transition(obs, action, np.float32(reward), nxt, np.float32(done)))
    obs, ep_ret = nxt, ep_ret + reward
    if over:
        returns.append(ep_ret)
        obs, ep_ret = env.reset(), 0.0

    if step > WARMUP and step % LEARN_EVERY == 0:
        idx, w, (s, a, r, s2, d) = memory.sample(BATCH)
        loss, td = learn(target, *map(tf.constant, (s, a, r, s2, d, w)))
        memory.update(idx, td.numpy())
        updates += 1
        if updates % SYNC_EVERY == 0:
            target = keras.models.clone_model(online)
            target.set_weights(online.get_weights())

    if step % 2000 == 0:
        mean = np.mean(returns) if returns else float("nan")
        print(
            f"{step:6d} env steps  return {mean:+.3f}  eps {eps:.2f}  "
            f"{step / (time.time() - t0):.0f} steps/s"
        )

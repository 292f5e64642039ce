import collections
import numpy as np
import tensorflow as tf

GAMMA, ALPHA, BETA0 = 0.99, 0.6, 0.4
CAPACITY = 2**15
BATCH_SIZE = 128
TRAIN_EVERY = 4
TARGET_SYNC = 250
TOTAL_FRAMES = 9000
WARMUP = 600


class PointMaze:
    """16 rays + position; four actions; reach the goal around the walls."""

    n_obs, n_act = 20, 4

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.centers = self.rng.random((16, 2))

    def reset(self):
        self.pos = self.rng.random(2)
        self.goal = self.rng.random(2)
        self.t = 0
        return self._obs()

    def _obs(self):
        d = np.hypot(*(self.centers - self.pos).T)
        return np.concatenate([d, self.pos, self.goal]).astype(np.float32)

    def step(self, a):
        move = ((0.04, 0), (-0.04, 0), (0, 0.04), (0, -0.04))[a]
        self.pos = np.clip(self.pos + move, 0, 1)
        self.t += 1
        dist = np.hypot(*(self.goal - self.pos))
        done = dist < 0.06
        return self._obs(), (1.0 if done else -0.02), done, self.t >= 120


class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity
        self.depth = int(np.log2(capacity))
        self.tree = np.zeros(2 * capacity)

    def total(self):
        return self.tree[1]

    def update(self, idx, priority):
        node = idx + self.capacity
        self.tree[node] = priority
        for _ in range(self.depth):
            node = node >> 1
            self.tree[node] = self.tree[2 * node] + self.tree[2 * node + 1]

    def update_one(self, idx, priority):
        node = idx + self.capacity
        delta = priority - self.tree[node]
        while node:
            self.tree[node] += delta
            node >>= 1

    def find(self, mass):
        node = np.ones(len(mass), np.int64)
        for _ in range(self.depth):
            left = self.tree[2 * node]
            right = mass > left
            mass = np.where(right, mass - left, mass)
            node = 2 * node + right
        return node - self.capacity


class PrioritizedReplay:
    def __init__(self, capacity, n_obs, seed):
        self.rng = np.random.default_rng(seed)
        self.tree = SumTree(capacity)
        self.s = np.zeros((capacity, n_obs), np.float32)
        self.s2 = np.zeros((capacity, n_obs), np.float32)
        self.a = np.zeros(capacity, np.int32)
        self.r = np.zeros(capacity, np.float32)
        self.d = np.zeros(capacity, np.float32)
        self.head = self.size = 0
        self.max_p = 1.0

    def add(self, s, a, r, s2, d):
        i = self.head
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.tree.update_one(i, self.max_p)
        self.head = (i + 1) % self.tree.capacity
        self.size = min(self.size + 1, self.tree.capacity)

    def sample(self, n, beta):
        seg = self.tree.total() / n
        idx = self.tree.find((np.arange(n) + self.rng.random(n)) * seg)
        idx = np.minimum(idx, self.size - 1)
        p = self.tree.tree[idx + self.tree.capacity] / self.tree.total()
        w = (self.size * np.maximum(p, 1e-9)) ** -beta
        return idx, (
            self.s[idx],
            self.a[idx],
            self.r[idx],
            self.s2[idx],
            self.d[idx],
            (w / w.max()).astype(np.float32),
        )

    def refresh(self, idx, td):
        p = (np.abs(td) + 1e-3) ** ALPHA
        self.max_p = max(self.max_p, float(p.max()))
        self.tree.update(idx, p)


def qnet():
    x = tf.keras.Input((PointMaze.n_obs,))
    h = tf.keras.layers.Dense(896, activation="relu")(x)
    h = tf.keras.layers.Dense(896, activation="relu")(h)
    v = tf.keras.layers.Dense(1)(tf.keras.layers.Dense(256, activation="relu")(h))
    adv = tf.keras.layers.Dense(PointMaze.n_act)(tf.keras.layers.Dense(256, activation="relu")(h))
    q = tf.keras.layers.Lambda(lambda z: z[0] + z[1] - tf.reduce_mean(z[1], -1, keepdims=True))(
        [v, adv]
    )
    return tf.keras.Model(x, q)


tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
env = PointMaze(1)
online, target = qnet(), qnet()
target.set_weights(online.get_weights())
adam = tf.keras.optimizers.Adam(2.5e-4)
buf = PrioritizedReplay(CAPACITY, PointMaze.n_obs, 2)


@tf.function
def greedy(s):
    return tf.argmax(online(s[None])[0])


@tf.function
def learn(s, a, r, s2, d, w):
    a2 = tf.argmax(online(s2), -1, tf.int32)
    y = r + GAMMA * (1.0 - d) * tf.gather(target(s2), a2, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, batch_dims=1)
        td = y - q
        loss = tf.reduce_mean(w * tf.where(tf.abs(td) < 1.0, 0.5 * td * td, tf.abs(td) - 0.5))
    adam.apply_gradients(
        zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables)
    )
    return td


returns = collections.deque(maxlen=40)
all_returns = []
s, ep_ret, updates = env.reset(), 0.0, 0
for frame in range(TOTAL_FRAMES):
    eps = max(0.05, 1.0 - frame / 4000)
    a = int(rng.integers(4)) if rng.random() < eps else int(greedy(tf.constant(s)))
    s2, r, done, timeout = env.step(a)
    buf.add(s, a, r, s2, float(done))
    s, ep_ret = s2, ep_ret + r
    if done or timeout:
        returns.append(ep_ret)
        all_returns.append(ep_ret)
        s, ep_ret = env.reset(), 0.0

    if frame >= WARMUP and frame % TRAIN_EVERY == 0:
        beta = BETA0 + (1 - BETA0) * frame / TOTAL_FRAMES
        idx, batch = buf.sample(BATCH_SIZE, beta)
        td = learn(*batch)
        buf.refresh(idx, td.numpy())
        updates += 1
        if updates % TARGET_SYNC == 0:
            target.set_weights(online.get_weights())
            print(
                f"frame {frame:6d} updates {updates:5d} eps {eps:.2f} replay {buf.size:6d} "
                f"return {np.mean(returns) if returns else float('nan'):.3f} best {max(all_returns, default=0):.2f}"
            )

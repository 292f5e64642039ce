# DQN for a kiln temperature schedule; logged operator data + online interaction
import random
import time
from collections import deque
import numpy as np
import tensorflow as tf
from tensorflow import keras

CAPACITY = 50000
ACTIONS = 5
OBS = 8
BATCH = 128
np.random.seed(0)
random.seed(0)
tf.random.set_seed(0)


class Kiln:
    def reset(self):
        self.temp, self.fuel, self.t = 0.2, 0.0, 0
        self.target = np.random.uniform(0.5, 0.9)
        self.load = np.random.uniform(0.5, 1.5, 3)
        return self.obs()

    def obs(self):
        return np.array(
            [self.temp, self.fuel, self.target, self.t / 60.0, self.target - self.temp, *self.load],
            dtype=np.float32,
        )

    def step(self, a):
        self.fuel = 0.8 * self.fuel + 0.2 * (a / (ACTIONS - 1))
        self.temp += 0.08 * self.fuel / self.load[0] - 0.03 * self.temp * self.load[1]
        self.temp += np.random.normal(0, 0.004)
        self.t += 1
        r = -abs(self.temp - self.target) - 0.05 * self.fuel * self.load[2]
        return self.obs(), float(r), self.t >= 60


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6, beta=0.4):
        self.alpha, self.beta = alpha, beta
        self.capacity = capacity
        self.items = []
        self.prios = []
        self.pos = 0

    def add(self, tr, p=1.0):
        if len(self.items) < self.capacity:
            self.items.append(tr)
            self.prios.append(p)
        else:
            self.items[self.pos] = tr
            self.prios[self.pos] = p
        self.pos = (self.pos + 1) % self.capacity

    def sample(self, n):
        w = np.array(self.prios) ** self.alpha
        probs = w / w.sum()
        idx = np.random.choice(len(self.items), n, p=probs)
        s, a, r, s2, d = zip(*[self.items[i] for i in idx])
        iw = (len(self.items) * probs[idx]) ** -self.beta
        return (
            idx,
            np.stack(s),
            np.array(a, np.int32),
            np.array(r, np.float32),
            np.stack(s2),
            np.array(d, np.float32),
            (iw / iw.max()).astype(np.float32),
        )

    def update(self, idx, td):
        for i, e in zip(idx, td):
            self.prios[i] = float(abs(e)) + 1e-3


def qnet():
    return keras.Sequential(
        [
            keras.Input((OBS,)),
            keras.layers.Dense(128, "relu"),
            keras.layers.Dense(128, "relu"),
            keras.layers.Dense(ACTIONS),
        ]
    )


q, target = qnet(), qnet()
target.set_weights(q.get_weights())
opt = keras.optimizers.Adam(5e-4)


@tf.function(reduce_retracing=True)
def act(o):
    return tf.argmax(q(o[None]), axis=1)[0]


@tf.function
def learn(s, a, r, s2, d, w):
    best = tf.argmax(q(s2), axis=1, output_type=tf.int32)
    nxt = tf.gather(target(s2), best, axis=1, batch_dims=1)
    y = r + 0.98 * (1.0 - d) * nxt
    with tf.GradientTape() as tape:
        qa = tf.gather(q(s, training=True), a, axis=1, batch_dims=1)
        td = tf.stop_gradient(y) - qa
        loss = tf.reduce_mean(w * tf.square(td))
    g = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(g, q.trainable_variables))
    return loss, td


env = Kiln()
mem = PrioritizedReplay(CAPACITY)
o = env.reset()
for _ in range(CAPACITY):  # operator log
    a = int(np.clip(round((env.target - env.temp) * 8 + np.random.randn()), 0, ACTIONS - 1))
    o2, r, done = env.step(a)
    mem.add((o, a, r, o2, done))
    o = env.reset() if done else o2
print("replay filled with", len(mem.items))

returns, ep, losses = deque(maxlen=20), 0.0, deque(maxlen=100)
o = env.reset()
t0 = time.time()
for step in range(1, 3301):
    a = random.randrange(ACTIONS) if random.random() < 0.1 else int(act(tf.constant(o)))
    o2, r, done = env.step(a)
    mem.add((o, a, r, o2, done))
    ep += r
    o = o2
    if done:
        returns.append(ep)
        o, ep = env.reset(), 0.0
    idx, s, aa, rr, s2, d, w = mem.sample(BATCH)
    loss, td = learn(*[tf.convert_to_tensor(v) for v in (s, aa, rr, s2, d, w)])
    losses.append(float(loss))
    mem.update(idx, td.numpy())
    if step % 500 == 0:
        target.set_weights(q.get_weights())
    if step % 300 == 0:
        print(
            f"{step:6d} return {np.mean(returns):8.2f} loss {np.mean(losses):.4f} {time.time() - t0:6.1f}s",
            flush=True,
        )

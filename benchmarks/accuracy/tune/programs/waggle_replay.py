"""Double Q-learning for bees that choose patches; environment and replay live in the graph."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time
from dataclasses import dataclass

import tensorflow as tf


@dataclass
class Hive:
    bees: int = 128
    patches: int = 8
    capacity: int = 40000
    batch: int = 768
    hidden: int = 384
    rounds: int = 600
    learn_after: int = 2000
    gamma: float = 0.95
    seed: int = 41


class QNet(tf.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.w = [
            tf.Variable(tf.random.normal([a, b]) * (2.0 / a) ** 0.5)
            for a, b in ((n_in, hidden), (hidden, hidden), (hidden, n_out))
        ]
        self.b = [tf.Variable(tf.zeros([b])) for b in (hidden, hidden, n_out)]

    def __call__(self, x):
        h = tf.nn.relu(x @ self.w[0] + self.b[0])
        h = tf.nn.relu(h @ self.w[1] + self.b[1])
        return h @ self.w[2] + self.b[2]


class Colony(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.dim = cfg.patches + 2
        self.online = QNet(self.dim, cfg.hidden, cfg.patches)
        self.target = QNet(self.dim, cfg.hidden, cfg.patches)
        self.sync()
        self.opt = tf.keras.optimizers.Adam(5e-4)
        self.opt.build(self.online.trainable_variables)
        v = lambda *shape, dtype=tf.float32: tf.Variable(tf.zeros(shape, dtype), trainable=False)
        self.obs, self.nxt = v(cfg.capacity, self.dim), v(cfg.capacity, self.dim)
        self.act, self.rew = v(cfg.capacity, dtype=tf.int32), v(cfg.capacity)
        self.state = tf.Variable(tf.random.uniform([cfg.bees, self.dim]), trainable=False)
        self.count = tf.Variable(0, trainable=False)

    def sync(self):
        for a, b in zip(self.target.variables, self.online.variables):
            a.assign(b)

    def forage(self, state, action):
        nectar, rest = tf.split(state, [self.cfg.patches, 2], -1)
        hot = tf.one_hot(action, self.cfg.patches)
        got = tf.reduce_sum(nectar * hot, -1)
        nectar = tf.clip_by_value(
            nectar * (1 - 0.7 * hot) + 0.04 + 0.02 * tf.random.normal(tf.shape(nectar)), 0.0, 1.0
        )
        energy = tf.clip_by_value(rest[:, :1] - 0.1 + 0.3 * got[:, None], 0.0, 1.0)
        last = tf.cast(action, tf.float32)[:, None] / self.cfg.patches
        cost = 0.2 * tf.abs(last - rest[:, 1:])[:, 0]
        return tf.concat([nectar, energy, last], -1), got - cost

    @tf.function
    def fly(self, eps):
        state = tf.identity(self.state)
        greedy = tf.argmax(self.online(state), -1, output_type=tf.int32)
        rand = tf.random.uniform([self.cfg.bees], 0, self.cfg.patches, tf.int32)
        action = tf.where(tf.random.uniform([self.cfg.bees]) < eps, rand, greedy)
        nxt, reward = self.forage(state, action)
        at = (self.count + tf.range(self.cfg.bees)) % self.cfg.capacity
        for var, val in (
            (self.obs, state),
            (self.nxt, nxt),
            (self.act, action),
            (self.rew, reward),
        ):
            var.scatter_update(tf.IndexedSlices(val, at))
        self.state.assign(nxt)
        self.count.assign_add(self.cfg.bees)
        return tf.reduce_mean(reward)

    @tf.function
    def learn(self, updates):
        loss = 0.0
        for _ in tf.range(updates):
            idx = tf.random.uniform(
                [self.cfg.batch], 0, tf.minimum(self.count, self.cfg.capacity), tf.int32
            )
            nxt = tf.gather(self.nxt, idx)
            best = tf.argmax(self.online(nxt), -1, output_type=tf.int32)
            goal = tf.gather(self.rew, idx) + self.cfg.gamma * tf.gather(
                self.target(nxt), best, batch_dims=1
            )
            with tf.GradientTape() as tape:
                q = tf.gather(
                    self.online(tf.gather(self.obs, idx)), tf.gather(self.act, idx), batch_dims=1
                )
                loss = tf.reduce_mean(
                    tf.where(tf.abs(q - goal) < 1, 0.5 * (q - goal) ** 2, tf.abs(q - goal) - 0.5)
                )
            v = self.online.trainable_variables
            self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def main():
    cfg = Hive()
    tf.random.set_seed(cfg.seed)
    hive = Colony(cfg)
    t0, seen, loss, total = time.time(), 0, 0.0, 0.0
    for k in range(cfg.rounds):
        reward = hive.fly(tf.constant(max(0.05, 1.0 - k / 400)))
        seen += cfg.bees
        if seen > cfg.learn_after:
            loss = hive.learn(tf.constant(2 if k < 300 else 4))
        if k % 60 == 59:
            hive.sync()
            print(
                f"round {k + 1:4d} seen {seen:6d} reward {float(reward):.4f} loss {float(loss):.5f}"
            )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()

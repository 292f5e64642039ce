"""Double DQN for dispatching the cars of many small funiculars at once. The line
simulator and the replay memory are TensorFlow code; memory fills while training runs."""

import dataclasses
import time

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Line:
    stations: int = 12
    lines: int = 64
    actions: int = 4  # wait, go up, go down, express
    memory: int = 40_000
    start_learning: int = 4_000
    batch: int = 512
    hidden: int = 512
    gamma: float = 0.97
    chunk: int = 25
    chunks: int = 60
    sync_every: int = 4  # chunks


class QNet(tf.Module):
    def __init__(self, n_in, hidden, n_out, gen):
        super().__init__()
        dims = (n_in, hidden, hidden, n_out)
        self.w = [
            tf.Variable(gen.normal((i, o)) * (1.5 / i) ** 0.5) for i, o in zip(dims, dims[1:])
        ]
        self.b = [tf.Variable(tf.zeros(o)) for o in dims[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.nn.relu(x @ w + b)
        return x @ self.w[-1] + self.b[-1]

    def copy_from(self, other):
        for mine, theirs in zip(self.trainable_variables, other.trainable_variables):
            mine.assign(theirs)


class Hill(tf.Module):
    """State: one-hot car position + waiting passengers per station."""

    def __init__(self, cfg, gen):
        super().__init__()
        self.cfg, self.gen = cfg, gen
        self.pos = tf.Variable(tf.zeros(cfg.lines, tf.int32))
        self.queue = tf.Variable(tf.zeros((cfg.lines, cfg.stations)))

    def observe(self):
        return tf.concat([tf.one_hot(self.pos, self.cfg.stations), self.queue / 10.0], 1)

    def act(self, a):
        move = tf.gather(tf.constant([0, 1, -1, 4]), a)
        here = tf.clip_by_value(self.pos + move, 0, self.cfg.stations - 1)
        mask = tf.one_hot(here, self.cfg.stations)
        boarded = tf.reduce_sum(mask * self.queue, 1)
        arrivals = tf.cast(self.gen.uniform(self.queue.shape) < 0.08, tf.float32)
        self.queue.assign(tf.minimum(self.queue * (1 - mask) + arrivals, 20.0))
        self.pos.assign(here)
        fare = boarded - 0.05 * tf.reduce_sum(self.queue, 1) / self.cfg.stations
        return fare - 0.3 * tf.cast(tf.equal(a, 3), tf.float32)


class Memory(tf.Module):
    def __init__(self, size, width):
        super().__init__()
        self.size = size
        self.s, self.s2 = tf.Variable(tf.zeros((size, width))), tf.Variable(tf.zeros((size, width)))
        self.a, self.r = tf.Variable(tf.zeros(size, tf.int32)), tf.Variable(tf.zeros(size))
        self.n = tf.Variable(0)

    def add(self, s, a, r, s2):
        rows = (self.n + tf.range(tf.shape(a)[0])) % self.size
        for store, new in ((self.s, s), (self.a, a), (self.r, r), (self.s2, s2)):
            store.scatter_update(tf.IndexedSlices(new, rows))
        self.n.assign_add(tf.shape(a)[0])

    def draw(self, gen, k):
        rows = gen.uniform((k,), 0, tf.minimum(self.n, self.size), tf.int32)
        return [tf.gather(v, rows) for v in (self.s, self.a, self.r, self.s2)]


class Dispatcher:
    def __init__(self, cfg):
        self.cfg, self.gen = cfg, tf.random.Generator.from_seed(404)
        self.hill, self.memory = Hill(cfg, self.gen), Memory(cfg.memory, 2 * cfg.stations)
        self.q = QNet(2 * cfg.stations, cfg.hidden, cfg.actions, self.gen)
        self.lagged = QNet(2 * cfg.stations, cfg.hidden, cfg.actions, self.gen)
        self.lagged.copy_from(self.q)
        self.opt = tf.keras.optimizers.Adam(4e-4)
        self.opt.build(self.q.trainable_variables)

    def learn(self):
        s, a, r, s2 = self.memory.draw(self.gen, self.cfg.batch)
        best = tf.argmax(self.q(s2), 1, output_type=tf.int32)
        goal = r + self.cfg.gamma * tf.gather(self.lagged(s2), best, batch_dims=1)
        v = self.q.trainable_variables
        with tf.GradientTape() as tape:
            err = goal - tf.gather(self.q(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.where(tf.abs(err) < 1, 0.5 * err**2, tf.abs(err) - 0.5))
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))

    @tf.function
    def run(self, eps):
        fares = 0.0
        for _ in tf.range(self.cfg.chunk):
            s = self.hill.observe()
            greedy = tf.argmax(self.q(s), 1, output_type=tf.int32)
            dice = self.gen.uniform((self.cfg.lines,), 0, self.cfg.actions, tf.int32)
            a = tf.where(self.gen.uniform((self.cfg.lines,)) < eps, dice, greedy)
            r = self.hill.act(a)
            self.memory.add(s, a, r, self.hill.observe())
            if self.memory.n >= self.cfg.start_learning:
                self.learn()
            fares += tf.reduce_mean(r)
        return fares / self.cfg.chunk


if __name__ == "__main__":
    cfg = Line()
    tf.random.set_seed(404)
    boss, t0 = Dispatcher(cfg), time.time()
    for c in range(cfg.chunks):
        fare = boss.run(tf.constant(max(0.05, 1.0 - c / 30)))
        if c % cfg.sync_every == 0:
            boss.lagged.copy_from(boss.q)
            if c % 12 == 0:
                print(
                    f"chunk {c:3d} fare {float(fare):6.3f} memory {int(boss.memory.n)} {time.time() - t0:.1f} s"
                )

"""A string puppet learns to sway: Q-learning on many puppets at once, memory on the graph side."""

import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Setup:
    puppets: int = 32
    state: int = 12
    pulls: int = 6
    memory: int = 8192
    learn_after: int = 4096
    batch: int = 512
    rounds: int = 16
    inner: int = 60
    gamma: float = 0.96
    sync: int = 2
    seed: int = 17


class Stage:
    """Linear strings with a soft limit, integrated in TensorFlow."""

    def __init__(self, s):
        rng = np.random.default_rng(s.seed)
        q, _ = np.linalg.qr(rng.normal(size=(s.state, s.state)))
        self.a = tf.constant(0.95 * q, tf.float32)
        self.b = tf.constant(rng.normal(0, 0.4, (s.pulls, s.state)), tf.float32)
        self.pose = tf.Variable(tf.random.stateless_normal([s.puppets, s.state], [1, s.seed]))

    def move(self, pull):
        now = self.pose.value()
        nxt = tf.tanh(now @ self.a + tf.gather(self.b, pull))
        nxt += tf.random.normal(tf.shape(nxt), stddev=0.05)
        self.pose.assign(nxt)
        return now, tf.reduce_mean(nxt[:, :4], 1) - 0.1 * tf.reduce_mean(nxt**2, 1), nxt


class Memory:
    def __init__(self, s):
        self.size = s.memory
        self.now = tf.Variable(tf.zeros([s.memory, s.state]))
        self.nxt = tf.Variable(tf.zeros([s.memory, s.state]))
        self.pull = tf.Variable(tf.zeros([s.memory], tf.int32))
        self.gain = tf.Variable(tf.zeros([s.memory]))
        self.count = tf.Variable(0, dtype=tf.int32)

    def put(self, now, pull, gain, nxt):
        n = tf.shape(now)[0]
        at = (self.count + tf.range(n)) % self.size
        for var, val in ((self.now, now), (self.nxt, nxt), (self.pull, pull), (self.gain, gain)):
            var.scatter_update(tf.IndexedSlices(val, at))
        self.count.assign_add(n)

    def draw(self, k):
        i = tf.random.uniform([k], 0, tf.minimum(self.count, self.size), tf.int32)
        return [tf.gather(v, i) for v in (self.now, self.pull, self.gain, self.nxt)]


def q_net(s):
    return keras.Sequential(
        [
            keras.Input((s.state,)),
            keras.layers.Dense(640, activation="relu"),
            keras.layers.Dense(640, activation="relu"),
            keras.layers.Dense(s.pulls),
        ]
    )


def main():
    s = Setup()
    keras.utils.set_random_seed(s.seed)
    stage, memory = Stage(s), Memory(s)
    online, target = q_net(s), q_net(s)
    target.set_weights(online.get_weights())
    opt = keras.optimizers.Adam(5e-4)
    opt.build(online.trainable_variables)

    def act(eps):
        q = online(stage.pose.value())
        greedy = tf.argmax(q, 1, output_type=tf.int32)
        rand = tf.random.uniform([s.puppets], 0, s.pulls, tf.int32)
        pull = tf.where(tf.random.uniform([s.puppets]) < eps, rand, greedy)
        now, gain, nxt = stage.move(pull)
        memory.put(now, pull, gain, nxt)
        return tf.reduce_mean(gain)

    def learn():
        now, pull, gain, nxt = memory.draw(s.batch)
        best = tf.gather(target(nxt), tf.argmax(online(nxt), 1), batch_dims=1)
        goal = gain + s.gamma * best
        with tf.GradientTape() as tape:
            q = tf.gather(online(now, training=True), pull, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        v = online.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def fill():
        while memory.count < s.learn_after:
            act(1.0)

    @tf.function
    def session(eps):
        gain, loss = 0.0, 0.0
        for _ in tf.range(s.inner):
            gain = act(eps)
            loss = learn()
        return gain, loss

    fill()
    print("memory holds", int(memory.count))
    for r in range(s.rounds):
        eps = tf.constant(max(0.05, 0.6 * 0.85**r))
        gain, loss = session(eps)
        if r % s.sync == 0:
            target.set_weights(online.get_weights())
        print(
            f"round {r:2d} loss {loss:.4f} gain {gain:.3f} memory {min(int(memory.count), s.memory)}"
        )


if __name__ == "__main__":
    main()

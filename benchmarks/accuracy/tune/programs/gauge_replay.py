"""Continual learning on gauge photographs whose dials turn from task to task.

Old examples live in a replay store; every step mixes new ones with a draw from it.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import collections
import math
import random
import time

import keras
import numpy as np
import tensorflow as tf

SIDE = 14
CLASSES = 10
TASKS = 8
PER_TASK = 5000
STEPS_PER_TASK = 260

Example = collections.namedtuple("Example", "pixels label task born")


def photographs(rng, n, turn):
    """A needle on a dial; the zero mark of the dial turns with the task."""
    label = rng.integers(0, CLASSES, n)
    angle = 2 * np.pi * (label + rng.uniform(-0.3, 0.3, n)) / CLASSES + turn
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    along = xx * np.cos(angle)[:, None, None] + yy * np.sin(angle)[:, None, None]
    across = -xx * np.sin(angle)[:, None, None] + yy * np.cos(angle)[:, None, None]
    needle = np.exp(-((across / 0.15) ** 2)) * (along > 0)
    mark = np.exp(
        -(((xx - 0.9 * np.cos(turn)) / 0.2) ** 2 + ((yy - 0.9 * np.sin(turn)) / 0.2) ** 2)
    )
    image = needle + 1.5 * mark + rng.normal(0, 0.4, (n, SIDE, SIDE))
    return image.reshape(n, -1).astype(np.float32), label.astype(np.int32)


class ReplayStore:
    def __init__(self, memory):
        self.memory = memory
        self.examples = []

    def __len__(self):
        return len(self.examples)

    def add(self, pixels, labels, task, born):
        for p, y in zip(pixels, labels):
            self.examples.append(Example(p, int(y), task, born))

    def draw(self, now, k):
        seen = collections.Counter(e.label for e in self.examples)
        weights = []
        for e in self.examples:
            age = (now - e.born) / self.memory
            weights.append((0.3 + math.exp(-age)) / seen[e.label])
        chosen = random.choices(self.examples, weights=weights, k=k)
        return np.stack([e.pixels for e in chosen]), np.array([e.label for e in chosen], np.int32)


class Learner:
    def __init__(self):
        self.net = keras.Sequential(
            [
                keras.Input((SIDE * SIDE,)),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dense(CLASSES),
            ]
        )
        self.optimizer = keras.optimizers.SGD(0.03, momentum=0.9)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def learn(self, x, y):
        with tf.GradientTape() as tape:
            value = self.loss(y, self.net(x, training=True))
        grads = tape.gradient(value, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return value

    @tf.function
    def hits(self, x, y):
        guess = tf.argmax(self.net(x, training=False), -1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == y, tf.float32))


def main():
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(32)
    turns = [0.55 * k for k in range(TASKS)]
    tests = [[tf.constant(a) for a in photographs(rng, 600, turn)] for turn in turns]
    learner, store = Learner(), ReplayStore(memory=500)
    step, began = 0, time.perf_counter()

    for task, turn in enumerate(turns):
        x, y = photographs(rng, PER_TASK, turn)
        store.add(x[:400], y[:400], task, step)
        running = []
        for k in range(STEPS_PER_TASK):
            step += 1
            rows = rng.integers(0, PER_TASK, 96)
            old_x, old_y = store.draw(step, 160)
            batch_x = np.concatenate([x[rows], old_x])
            batch_y = np.concatenate([y[rows], old_y])
            running.append(learner.learn(tf.constant(batch_x), tf.constant(batch_y)))
            if (k + 1) % 130 == 0:
                print(f"  task {task} step {step:5d} loss {np.mean(running):.4f}", flush=True)
                running = []
        store.add(x[400:], y[400:], task, step)
        scores = [float(learner.hits(*tests[t])) for t in range(task + 1)]
        print(
            f"after task {task}: {' '.join(f'{s:.3f}' for s in scores)}"
            f"  store {len(store)}  {time.perf_counter() - began:.1f} s",
            flush=True,
        )
    print(f"mean accuracy over all turns {np.mean(scores):.4f}")


if __name__ == "__main__":
    main()

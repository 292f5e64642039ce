"""Double DQN with prioritised replay for a single-product warehouse."""

import random
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Transition:
    state: np.ndarray
    action: int
    reward: float
    after: np.ndarray
    done: float
    error: float = 1.0


class Warehouse:
    """Order stock every day against weekly demand; orders take two days."""

    ACTIONS = 8

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.day, self.stock, self.coming = int(self.rng.integers(7)), 10.0, [0.0, 0.0]
        self.left = 60
        return self.observe()

    def observe(self):
        a = 2 * np.pi * self.day / 7
        return np.array(
            [self.stock / 20, self.coming[0] / 10, self.coming[1] / 10, np.sin(a), np.cos(a)],
            "float32",
        )

    def step(self, action):
        self.stock += self.coming.pop(0)
        self.coming.append(2.0 * action)
        want = self.rng.poisson(5 + 3 * np.sin(2 * np.pi * self.day / 7))
        sold = min(self.stock, want)
        self.stock -= sold
        reward = sold - 0.15 * self.stock - 0.8 * (want - sold) - 0.2 * (action > 0)
        self.day, self.left = (self.day + 1) % 7, self.left - 1
        return self.observe(), reward / 5, self.left == 0


class Memory:
    def __init__(self, capacity, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.items, self.next = [], 0

    def add(self, item):
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.next] = item
        self.next = (self.next + 1) % self.capacity

    def sample(self, size):
        weights = [(abs(t.error) + 1e-2) ** self.alpha for t in self.items]
        total = sum(weights)
        probs = [w / total for w in weights]
        index = random.choices(range(len(self.items)), weights=probs, k=size)
        largest = max((len(probs) * p) ** -0.5 for p in probs)
        scale = np.array([(len(probs) * probs[i]) ** -0.5 / largest for i in index], "float32")
        return index, [self.items[i] for i in index], scale

    def set_errors(self, index, errors):
        for i, e in zip(index, errors):
            self.items[i].error = float(e)


class QNet(tf.Module):
    def __init__(self, sizes, name=None):
        super().__init__(name=name)
        init = tf.random.Generator.from_seed(5)
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            w = tf.Variable(init.normal((a, b)) * (2.0 / a) ** 0.5)
            self.layers.append((w, tf.Variable(tf.zeros(b))))

    def __call__(self, x):
        for k, (w, b) in enumerate(self.layers):
            x = x @ w + b
            if k < len(self.layers) - 1:
                x = tf.nn.relu(x)
        return x


def make_update(online, target, optimizer, gamma=0.95):
    @tf.function
    def update(state, action, reward, after, done, scale):
        best = tf.argmax(online(after), axis=1)
        future = tf.gather(target(after), best, batch_dims=1)
        goal = reward + gamma * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.gather(online(state), action, batch_dims=1)
            error = goal - q
            loss = tf.reduce_mean(
                scale * tf.where(tf.abs(error) < 1, 0.5 * error**2, tf.abs(error) - 0.5)
            )
        grads = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(grads, online.trainable_variables))
        return loss, error

    return update


def main(steps=4500, warmup=5000, batch=32):
    random.seed(1)
    rng = np.random.default_rng(1)
    env, memory = Warehouse(rng), Memory(20000)
    shape = (5, 96, 96, Warehouse.ACTIONS)
    online, target = QNet(shape), QNet(shape)
    update = make_update(online, target, tf.keras.optimizers.Adam(7e-4))
    values = tf.function(online.__call__, input_signature=[tf.TensorSpec((1, 5))])

    state, total, totals, losses = env.reset(), 0.0, [], []
    for step in range(1, warmup + steps + 1):
        greedy = step > warmup and rng.uniform() > max(0.05, 1 - (step - warmup) / 2500)
        action = int(np.argmax(values(state[None]))) if greedy else int(rng.integers(env.ACTIONS))
        after, reward, done = env.step(action)
        memory.add(Transition(state, action, reward, after, float(done)))
        state, total = after, total + reward
        if done:
            totals.append(total)
            state, total = env.reset(), 0.0
        if step > warmup:
            index, picked, scale = memory.sample(batch)
            loss, error = update(
                np.stack([t.state for t in picked]),
                np.array([t.action for t in picked]),
                np.array([t.reward for t in picked], "float32"),
                np.stack([t.after for t in picked]),
                np.array([t.done for t in picked], "float32"),
                scale,
            )
            memory.set_errors(index, error.numpy())
            losses.append(float(loss))
        if step % 300 == 0:
            for a, b in zip(target.trainable_variables, online.trainable_variables):
                a.assign(b)
        if step % 750 == 0:
            recent = np.mean(losses[-750:]) if losses else float("nan")
            print(
                f"step {step:5d}  return {np.mean(totals[-8:]):7.2f}  loss {recent:.4f}", flush=True
            )
    print(
        "return at the start",
        round(np.mean(totals[:8]), 2),
        "at the end",
        round(np.mean(totals[-8:]), 2),
    )


if __name__ == "__main__":
    main()

"""Early warning of stress cracks in an annealing lehr (streaming classifier).

A reader thread plays the part of the plant historian: it assembles windows of
thermocouple data and keeps a small stock of ready batches for the trainer.
"""

import collections
import threading

import numpy as np
import tensorflow as tf

ZONES = 12
WINDOW = 96
BATCH = 48


class Historian(threading.Thread):
    """Produces (window, cracked) batches ahead of the consumer."""

    def __init__(self, capacity=8, seed=0):
        super().__init__(daemon=True)
        self.ready = collections.deque()
        self.capacity = capacity
        self.rng = np.random.default_rng(seed)
        self.stopping = False
        self.profile = np.linspace(560, 80, ZONES)

    def assemble(self):
        rng = self.rng
        drift = np.cumsum(rng.normal(0, 0.6, (BATCH, WINDOW, ZONES)), axis=1)
        x = self.profile + drift + rng.normal(0, 1.0, drift.shape)
        cracked = rng.random(BATCH) < 0.5
        zone = rng.integers(2, ZONES - 2, BATCH)
        begin = rng.integers(20, WINDOW - 20, BATCH)
        for i in np.flatnonzero(cracked):
            x[i, begin[i] :, zone[i]] -= rng.uniform(4, 14) * np.exp(
                -np.arange(WINDOW - begin[i]) / 15.0
            )
        x = (x - self.profile) / 10.0
        return x.astype("float32"), cracked.astype("float32")

    def run(self):
        while not self.stopping:
            if len(self.ready) >= self.capacity:
                continue
            self.ready.append(self.assemble())

    def take(self):
        while not self.ready:
            pass
        return self.ready.popleft()


def build():
    k = tf.keras
    inp = k.Input((WINDOW, ZONES))
    x = k.layers.Conv1D(32, 5, padding="causal", activation="relu")(inp)
    x = k.layers.Conv1D(32, 5, padding="causal", dilation_rate=4, activation="relu")(x)
    x = k.layers.Conv1D(48, 5, padding="causal", dilation_rate=8, activation="relu")(x)
    x = k.layers.Concatenate()(
        [k.layers.GlobalMaxPooling1D()(x), k.layers.GlobalAveragePooling1D()(x)]
    )
    x = k.layers.Dense(48, activation="relu")(x)
    return k.Model(inp, k.layers.Dense(1)(x))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logit = self.model(x, training=True)
            loss = self.bce(y[:, None], logit)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        hits = tf.reduce_mean(tf.cast((logit[:, 0] > 0) == (y > 0.5), tf.float32))
        return loss, hits


def main(steps=1500):
    tf.keras.utils.set_random_seed(8)
    feed = Historian()
    feed.start()
    trainer = Trainer(build())
    loss_avg, hit_avg = 0.7, 0.5
    for n in range(1, steps + 1):
        x, y = feed.take()
        loss, hits = trainer.step(tf.constant(x), tf.constant(y))
        loss_avg += 0.02 * (float(loss) - loss_avg)
        hit_avg += 0.02 * (float(hits) - hit_avg)
        if n % 150 == 0:
            print(f"window batch {n:5d}  loss {loss_avg:.3f}  hit rate {hit_avg:.3f}")
    feed.stopping = True
    feed.join(2.0)


if __name__ == "__main__":
    main()

"""Which voles share a burrow? GraphSAGE on contact records with sampled neighbours."""

import gc
import resource

import numpy as np
import tensorflow as tf

VOLES = 20000
DIM = 32
FAN = 8
BATCH = 128
STEPS = 1600


class Contact:
    def __init__(self, other, minutes):
        self.other = other
        self.minutes = minutes


class Vole:
    def __init__(self, number, burrow):
        self.number = number
        self.burrow = burrow
        self.contacts = []


class Colony:
    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        burrow = rng.integers(0, 12, VOLES)
        self.voles = [Vole(i, int(b)) for i, b in enumerate(burrow)]
        members = [np.flatnonzero(burrow == b) for b in range(12)]
        for vole in self.voles:
            home = members[vole.burrow]
            near = home[rng.integers(0, len(home), 5)]
            far = rng.integers(0, VOLES, 4)
            for j in np.concatenate([near, far]):
                vole.contacts.append(Contact(self.voles[j], float(rng.exponential(20))))
        centre = rng.normal(0, 0.25, (12, DIM))
        self.features = (centre[burrow] + rng.normal(size=(VOLES, DIM))).astype(np.float32)
        self.burrow = burrow.astype(np.int32)
        self.rng = rng

    def neighbours(self, ids):
        picks = self.rng.integers(0, 9, (len(ids), FAN))
        out = np.empty((len(ids), FAN), np.int32)
        for row, i in enumerate(ids):
            contacts = self.voles[i].contacts
            out[row] = [contacts[p].other.number for p in picks[row]]
        return out

    def sample(self):
        seeds = self.rng.integers(0, VOLES, BATCH)
        first = self.neighbours(seeds)
        second = self.neighbours(first.ravel())
        return (
            self.features[seeds],
            self.features[first],
            self.features[second].reshape(BATCH, FAN, FAN, DIM),
            self.burrow[seeds],
        )


class MemoryWatch:
    """Remembers the highest resident size, for the lab's shared machine."""

    def __init__(self):
        self.peak = 0

    def check(self):
        gc.collect()
        now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.peak = max(self.peak, now)


class Sage(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.layers.Dense(64, activation="relu")
        self.outer = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(12)

    def call(self, own, first, second):
        h1 = self.inner(tf.concat([first, tf.reduce_mean(second, 2)], -1))
        h0 = self.inner(tf.concat([own, tf.reduce_mean(first, 1)], -1))
        return self.out(self.outer(tf.concat([h0, tf.reduce_mean(h1, 1)], -1)))


def main():
    tf.keras.utils.set_random_seed(1)
    colony, model, watch = Colony(), Sage(), MemoryWatch()
    opt = tf.keras.optimizers.Adam(3e-3)

    @tf.function
    def train_step(own, first, second, label):
        with tf.GradientTape() as tape:
            logits = model(own, first, second)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
            )
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == label, tf.float32))

    right = 0.0
    for step in range(1, STEPS + 1):
        batch = [tf.constant(a) for a in colony.sample()]
        loss, acc = train_step(*batch)
        right += float(acc)
        if step % 16 == 0:
            watch.check()
        if step % 100 == 0:
            print(f"{step}: loss {float(loss):.3f} acc {right / 100:.3f} peak {watch.peak} MB")
            right = 0.0


if __name__ == "__main__":
    main()

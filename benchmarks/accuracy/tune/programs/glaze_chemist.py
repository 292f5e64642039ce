"""Offline value learning from kiln logbooks: which oxide to add next.

The logbook is kept as plain Python records, since the rest of the workshop's
code (reports, label printing) wants dicts.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import gc
import resource

import numpy as np
import tensorflow as tf

OXIDES = ["SiO2", "Al2O3", "B2O3", "Na2O", "K2O", "CaO", "MgO", "ZnO", "Fe2O3", "CuO"]


def fire(rng, mix):
    """Gloss, crazing and colour after firing, from the oxide fractions."""
    gloss = 1.5 * mix[0] - 2.2 * (mix[1] - 0.12) ** 2 + 0.8 * mix[2]
    crazing = max(0.0, mix[3] + mix[4] - 0.3)
    colour = np.tanh(4 * (mix[8] + 2 * mix[9]))
    return gloss - crazing + 0.4 * colour + rng.normal(0, 0.02)


def read_logbook(n_firings, rng):
    book = []
    for f in range(n_firings):
        mix = rng.dirichlet(np.ones(len(OXIDES)) * 2).tolist()
        quality = float(fire(rng, mix))
        for s in range(6):
            a = int(rng.integers(0, len(OXIDES)))
            new = list(mix)
            new[a] += 0.05
            tot = sum(new)
            new = [v / tot for v in new]
            q2 = float(fire(rng, new))
            book.append(
                {
                    "mix": mix,
                    "add": a,
                    "next": new,
                    "gain": q2 - quality,
                    "last": s == 5,
                    "note": {"firing": f, "step": s, "cone": [6, 7 + s % 3]},
                }
            )
            mix, quality = new, q2
    return book


def as_batch(book, idx):
    rows = [book[i] for i in idx]
    return (
        np.array([r["mix"] for r in rows], np.float32),
        np.array([r["add"] for r in rows], np.int32),
        np.array([r["gain"] for r in rows], np.float32),
        np.array([r["next"] for r in rows], np.float32),
        np.array([r["last"] for r in rows], np.float32),
    )


def q_net(width):
    inp = tf.keras.Input((len(OXIDES),))
    h = inp
    for _ in range(4):
        h = tf.keras.layers.Dense(width, activation="swish")(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(len(OXIDES))(h))


class GlazeLearner:
    def __init__(self, width, gamma=0.9):
        self.online, self.target = q_net(width), q_net(width)
        self.target.set_weights(self.online.get_weights())
        self.opt = tf.keras.optimizers.Adam(5e-4)
        self.gamma = gamma

    @tf.function(reduce_retracing=True)
    def learn(self, s, a, r, s2, last):
        best = tf.argmax(self.online(s2), 1, tf.int32)
        goal = r * 20 + self.gamma * (1 - last) * tf.gather(self.target(s2), best, batch_dims=1)
        with tf.GradientTape() as tape:
            q = self.online(s)
            td = tf.gather(q, a, batch_dims=1) - goal
            conservative = tf.reduce_mean(tf.reduce_logsumexp(q, 1) - tf.gather(q, a, batch_dims=1))
            loss = tf.reduce_mean(tf.square(td)) + 0.1 * conservative
        g = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(g, self.online.trainable_variables))
        return loss

    def sync(self):
        self.target.set_weights(self.online.get_weights())


def memory_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tidy():
    """The workshop PC has 4 GB only."""
    gc.collect()
    return memory_mb()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--firings", type=int, default=2500)
    ap.add_argument("--steps", type=int, default=200)
    ap.add_argument("--batch", type=int, default=512)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(77)
    rng = np.random.default_rng(77)
    book = read_logbook(args.firings, rng)
    print(len(book), "records in the logbook")
    learner = GlazeLearner(width=640)
    peak = 0.0
    for step in range(args.steps):
        idx = rng.integers(0, len(book), args.batch)
        loss = learner.learn(*as_batch(book, idx))
        if step % 5 == 4:
            peak = max(peak, tidy())
        if step % 40 == 0:
            learner.sync()
            print(f"step {step:4d}  loss {float(loss):.4f}  peak {peak:.0f} MB")
    print("final loss", float(loss))


if __name__ == "__main__":
    main()

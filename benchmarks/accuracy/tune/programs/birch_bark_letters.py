"""Character model of birch-bark letters, trained on longer and longer cuts.

Short cuts first (the hand is learned quickly), then the length is doubled a
few times so that the closing formulas are learned as well.
"""

import dataclasses
import time

import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Plan:
    stages: tuple = ((24, 60), (48, 50), (96, 40), (160, 30))
    batch: int = 64
    units: int = 224
    lr: float = 3e-3
    seed: int = 1951


def write_letters(n_chars, rng):
    """Invented letters: greeting, goods, plea, closing."""
    who = ["gordey", "nezhata", "mikita", "ulyana", "tverdyata", "yakov"]
    goods = ["rye", "salt", "fox pelts", "a horse", "honey", "three grivnas"]
    plea = ["send", "buy", "do not give", "take back", "weigh"]
    close = ["and i bow to you", "and god will repay", "and come yourself", "and keep silent"]
    text, size = [], 0
    while size < n_chars:
        s = (
            f"from {rng.choice(who)} to {rng.choice(who)}: {rng.choice(plea)} {rng.choice(goods)} "
            f"and {rng.choice(plea)} {rng.choice(goods)} {rng.choice(close)}.\n"
        )
        text.append(s)
        size += len(s)
    return "".join(text)[:n_chars]


class Cell(tf.Module):
    def __init__(self, n_in, units, gen):
        super().__init__()
        self.units = units
        self.wx = tf.Variable(gen.normal((n_in, 3 * units)) * 0.3)
        self.wh = tf.Variable(gen.normal((units, 3 * units)) / units**0.5)
        self.b = tf.Variable(tf.zeros(3 * units))

    def __call__(self, gx, h):
        xz, xr, xc = tf.split(gx, 3, 1)
        hz, hr, hc = tf.split(h @ self.wh, 3, 1)
        z = tf.sigmoid(xz + hz)
        c = tf.tanh(xc + tf.sigmoid(xr + hr) * hc)
        return z * h + (1 - z) * c


class Scribe(tf.Module):
    def __init__(self, vocab, units, seed):
        super().__init__()
        gen = tf.random.Generator.from_seed(seed)
        self.cell = Cell(vocab, units, gen)
        self.out = tf.Variable(gen.normal((units, vocab)) / units**0.5)

    def __call__(self, ids):
        gx = tf.gather(self.cell.wx, tf.transpose(ids)) + self.cell.b
        h0 = tf.zeros((tf.shape(ids)[0], self.cell.units))
        hs = tf.scan(lambda h, g: self.cell(g, h), gx, initializer=h0)
        return tf.einsum("tbu,uv->btv", hs, self.out)


class Corpus:
    def __init__(self, text, rng):
        self.alphabet = sorted(set(text))
        self.ids = np.array([self.alphabet.index(c) for c in text], "int32")
        self.rng = rng

    def cuts(self, n, length):
        start = self.rng.integers(0, len(self.ids) - length - 1, n)
        return self.ids[start[:, None] + np.arange(length + 1)]


def main(plan):
    tf.keras.utils.set_random_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    corpus = Corpus(write_letters(60000, rng), rng)
    model = Scribe(len(corpus.alphabet), plan.units, plan.seed)
    opt = tf.keras.optimizers.Adam(plan.lr, global_clipnorm=1.0)
    opt.build(model.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def update(cut):
        with tf.GradientTape() as tape:
            logits = model(cut[:, :-1])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=cut[:, 1:], logits=logits)
            )
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    t0 = time.time()
    for number, (length, updates) in enumerate(plan.stages, 1):
        losses = [update(tf.constant(corpus.cuts(plan.batch, length))) for _ in range(updates)]
        tail = float(tf.reduce_mean(losses[-10:]))
        print(
            f"stage {number}: cuts of {length:3d}, {tail / np.log(2):.3f} bits, {time.time() - t0:.1f} s"
        )
    print("alphabet", "".join(corpus.alphabet).strip())


if __name__ == "__main__":
    main(Plan())

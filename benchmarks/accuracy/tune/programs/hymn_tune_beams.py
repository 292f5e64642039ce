"""Learns to write the alto line under a hymn melody: GRU encoder/decoder, beam search after each round."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

PAD, BOS, EOS = 0, 1, 2


@dataclass
class Config:
    notes: int = 34
    width: int = 96
    length: int = 14
    batch: int = 64
    rounds: int = 9
    steps: int = 22
    beams: int = 4
    valid: int = 16
    seed: int = 8


def compose(rng, cfg, n):
    """Random walk melodies; the alto goes a third below, with a suspension after leaps."""
    step = rng.choice([-2, -1, -1, 0, 1, 1, 2, 4], (n, cfg.length))
    tune = np.clip(16 + np.cumsum(step, 1), 6, cfg.notes - 2)
    alto = tune - 2
    leap = np.abs(np.diff(tune, axis=1, prepend=tune[:, :1])) > 3
    alto = np.clip(np.where(leap, alto - 1, alto), 3, cfg.notes - 1)
    bos = np.full((n, 1), BOS)
    return tune.astype(np.int32), np.concatenate([bos, alto, np.full((n, 1), EOS)], 1).astype(
        np.int32
    )


class Writer(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        L = tf.keras.layers
        self.src, self.dst = L.Embedding(cfg.notes, 48), L.Embedding(cfg.notes, 48)
        self.reader = L.GRU(cfg.width, return_sequences=True, return_state=True)
        self.cell = L.GRUCell(cfg.width)
        self.out = L.Dense(cfg.notes)

    def read(self, tune):
        return self.reader(self.src(tune))

    def write(self, token, state, memory):
        h, _ = self.cell(self.dst(token), [state])
        w = tf.nn.softmax(tf.einsum("bd,btd->bt", h, memory))
        return self.out(tf.concat([h, tf.einsum("bt,btd->bd", w, memory)], -1)), h

    def call(self, tune, alto):
        memory, state = self.read(tune)
        rows = []
        for t in range(alto.shape[1]):
            logits, state = self.write(alto[:, t], state, memory)
            rows.append(logits)
        return tf.stack(rows, 1)


class BeamSearch:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.search = tf.function(self._search)

    def _search(self, tune):
        k, n = self.cfg.beams, tune.shape[0]
        memory, state = self.model.read(tune)
        memory, state = tf.repeat(memory, k, 0), tf.repeat(state, k, 0)
        token = tf.fill([n * k], BOS)
        score = tf.tile(tf.constant([[0.0] + [-1e9] * (k - 1)]), [n, 1])
        text = tf.zeros([n, k, 0], tf.int32)
        base = tf.range(n)[:, None] * k
        for _ in range(self.cfg.length):
            logits, state = self.model.write(token, state, memory)
            total = score[..., None] + tf.reshape(tf.nn.log_softmax(logits), [n, k, -1])
            score, flat = tf.math.top_k(tf.reshape(total, [n, -1]), k)
            parent, word = flat // self.cfg.notes, flat % self.cfg.notes
            state = tf.gather(state, tf.reshape(base + parent, [-1]))
            text = tf.concat([tf.gather(text, parent, batch_dims=1), word[..., None]], -1)
            token = tf.reshape(word, [-1])
        return text[:, 0]


def agreement(model, cfg, tunes, altos):
    beam = BeamSearch(model, cfg)
    hits = [
        beam.search(tunes[i : i + cfg.valid]) == altos[i : i + cfg.valid, 1:-1]
        for i in range(0, len(tunes), cfg.valid)
    ]
    return float(np.mean([np.mean(h) for h in hits]))


def main(cfg):
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    tune, alto = compose(rng, cfg, cfg.batch * cfg.steps)
    vt, va = compose(rng, cfg, 64)
    vt = tf.constant(vt)
    model, opt = Writer(cfg), tf.keras.optimizers.Adam(4e-3)
    data = tf.data.Dataset.from_tensor_slices((tune, alto)).cache().shuffle(2000, seed=2)
    data = data.batch(cfg.batch, drop_remainder=True).prefetch(2)

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(y[:, 1:], model(x, y[:, :-1]))
            )
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    start = time.time()
    for r in range(cfg.rounds):
        for x, y in data:
            loss = update(x, y)
        print(
            f"round {r}  loss {float(loss):.3f}  alto agreement {agreement(model, cfg, vt, va):.3f}"
        )
    print(f"done in {time.time() - start:.1f} s")


if __name__ == "__main__":
    main(Config())

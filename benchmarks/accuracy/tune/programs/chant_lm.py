"""Character model of plainchant neumes; the phrases get longer in the course."""

import time

import numpy as np
import tensorflow as tf

NOTES = 40
STAGES = [(12, 90), (24, 60), (48, 40), (80, 30)]
BATCH = 64
CKPT_EVERY_STAGE = True


def compose(n, seed=8):
    """Random walk on a modal scale with cadence formulas."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([-2, -1, 0, 1, 2], n, p=[0.1, 0.3, 0.15, 0.35, 0.1])
    line = np.empty(n, "int64")
    here = NOTES // 2
    for i, s in enumerate(steps):
        if i % 37 > 33:
            here += int(np.sign(NOTES // 2 - here))
        else:
            here = min(NOTES - 1, max(0, here + int(s)))
        line[i] = here
    return line


CORPUS = compose(200_000)


def phrases(length):
    rng = np.random.default_rng(length)
    offsets = np.arange(length + 1)[None]
    while True:
        start = rng.integers(0, len(CORPUS) - length - 1, BATCH)
        yield CORPUS[start[:, None] + offsets]


def stage_dataset(length):
    spec = tf.TensorSpec([BATCH, length + 1], tf.int64)
    return tf.data.Dataset.from_generator(lambda: phrases(length), output_signature=spec).prefetch(
        4
    )


class Cantor(tf.Module):
    def __init__(self, units=320, name=None):
        super().__init__(name=name)
        self.embed = tf.Variable(tf.random.normal([NOTES, 64]) * 0.1)
        self.kernel = tf.Variable(tf.random.normal([64 + units, 2 * units]) * 0.05)
        self.cand = tf.Variable(tf.random.normal([64 + units, units]) * 0.05)
        self.proj = tf.Variable(tf.random.normal([units, NOTES]) * 0.05)
        self.units = units

    def unroll(self, tokens):
        x = tf.transpose(tf.gather(self.embed, tokens), [1, 0, 2])
        h0 = tf.zeros([tf.shape(tokens)[0], self.units])

        def cell(h, xt):
            z, r = tf.split(tf.sigmoid(tf.concat([xt, h], 1) @ self.kernel), 2, 1)
            c = tf.tanh(tf.concat([xt, r * h], 1) @ self.cand)
            return (1 - z) * h + z * c

        states = tf.scan(cell, x, initializer=h0)
        return tf.einsum("tbu,un->btn", states, self.proj)


model = Cantor()
opt = tf.keras.optimizers.Adam(2e-3)
opt.build(model.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec([BATCH, None], tf.int64)])
def train_step(phrase):
    with tf.GradientTape() as tape:
        logits = model.unroll(phrase[:, :-1])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(phrase[:, 1:], logits))
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    tf.random.set_seed(0)
    t0 = time.time()
    for length, steps in STAGES:
        mean = tf.keras.metrics.Mean()
        for phrase in stage_dataset(length).take(steps):
            mean.update_state(train_step(phrase))
        print(
            f"length {length:3d}: {steps} steps, loss {float(mean.result()):.4f}, "
            f"{time.time() - t0:.1f} s"
        )
    print("train wall", round(time.time() - t0, 2))


if __name__ == "__main__":
    main()

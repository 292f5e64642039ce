"""Where will the choir breathe? Sequence labelling of melodies with a BiLSTM.

The network with the best smoothed training loss is kept on disk, since runs on
our shared machine are cut off now and then.
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

PITCHES = 40
LENGTHS = 12
BARS = 24
BATCH = 16
STEPS = 650
SETTLE = 120


def melodies(n, rng):
    pitch = np.cumsum(rng.integers(-3, 4, (n, BARS)), axis=1) % PITCHES
    length = rng.integers(0, LENGTHS, (n, BARS))
    air = np.zeros(n)
    breath = np.zeros((n, BARS), "float32")
    for t in range(BARS):
        air += length[:, t] + 0.15 * pitch[:, t]
        take = air > 28
        breath[take, t] = 1.0
        air[take] = 0.0
    return pitch.astype("int32"), length.astype("int32"), breath


class BreathTagger(tf.keras.Model):
    def __init__(self, units=192):
        super().__init__()
        k = tf.keras.layers
        self.pitch = k.Embedding(PITCHES, 48)
        self.length = k.Embedding(LENGTHS, 48)
        self.first = k.Bidirectional(k.LSTM(units, return_sequences=True))
        self.second = k.LSTM(units, return_sequences=True)
        self.hidden = k.Dense(512, activation="relu")
        self.out = k.Dense(1)

    def call(self, inputs):
        pitch, length = inputs
        x = tf.concat([self.pitch(pitch), self.length(length)], axis=-1)
        x = self.second(self.first(x))
        return self.out(self.hidden(x))[..., 0]


class BestKeeper:
    """Writes a checkpoint when the smoothed loss has a new low."""

    def __init__(self, folder, model, optimizer, smooth=0.97):
        self.step = tf.Variable(0, dtype=tf.int64)
        ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer, step=self.step)
        self.manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3)
        self.smooth = smooth
        self.level = None
        self.best = np.inf

    def see(self, step, loss):
        self.level = (
            loss if self.level is None else self.smooth * self.level + (1 - self.smooth) * loss
        )
        if step > SETTLE and self.level < self.best:
            self.best = self.level
            self.step.assign(step)
            self.manager.save(checkpoint_number=step)


def main():
    tf.keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    pitch, length, breath = melodies(6000, rng)
    vp, vl, vb = melodies(600, rng)
    model = BreathTagger()
    opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(6e-4, STEPS))
    model((pitch[:2], length[:2]))
    opt.build(model.trainable_variables)

    @tf.function
    def train_step(p, l, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=b, logits=model((p, l)))
            )
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    data = (
        tf.data.Dataset.from_tensor_slices((pitch, length, breath))
        .shuffle(6000)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    with tempfile.TemporaryDirectory() as tmp:
        keeper = BestKeeper(os.path.join(tmp, "breath"), model, opt)
        for n, (p, l, b) in enumerate(data.take(STEPS), 1):
            loss = float(train_step(p, l, b))
            keeper.see(n, loss)
            if n % 130 == 0:
                print(
                    f"{n:4d}  loss {loss:.4f}  smoothed {keeper.level:.4f}  kept {keeper.best:.4f}"
                )
        keeper.manager.checkpoint.restore(keeper.manager.latest_checkpoint).expect_partial()
        guess = model.predict((vp, vl), batch_size=100, verbose=0) > 0
        tp = np.sum(guess & (vb > 0.5))
        print("F1 of breath marks: %.3f" % (2 * tp / (guess.sum() + vb.sum())))


if __name__ == "__main__":
    main()

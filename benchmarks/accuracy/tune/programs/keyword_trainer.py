"""Spoken keyword spotting on log-mel clips of different duration."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

WORDS = ["on", "off", "stop", "go", "left", "right", "up", "down"]
MELS = 32
BATCH = 32
STEPS = 600
EVAL_EVERY = 20


class ClipStore:
    """Holds clips as a list of [frames, mels] arrays."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.labels = self.rng.integers(0, len(WORDS), n)
        self.clips = []
        for lab in self.labels:
            frames = int(self.rng.integers(58, 84))
            base = self.rng.normal(size=(frames, MELS)).astype(np.float32)
            centre = 3 + 3 * lab
            base[:, centre : centre + 3] += 0.8 * np.sin(np.linspace(0, 3 + lab, frames))[:, None]
            self.clips.append(base)

    def collate(self, index, width=None):
        clips = [self.clips[i] for i in index]
        frames = width or max(len(c) for c in clips)
        out = np.zeros((len(clips), frames, MELS), np.float32)
        for row, clip in enumerate(clips):
            out[row, : len(clip)] = clip[:frames]
        return tf.constant(out), tf.constant(self.labels[index], tf.int32)

    def bucket_batches(self):
        """Clips of similar duration go together, it saves a lot of padding."""
        lengths = np.array([len(c) for c in self.clips])
        while True:
            pivot = self.rng.integers(0, len(lengths))
            near = np.argsort(np.abs(lengths - lengths[pivot]), kind="stable")[: 3 * BATCH]
            yield self.collate(self.rng.choice(near, BATCH, replace=False))


class ResidualConv(tf.keras.layers.Layer):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv_a = tf.keras.layers.Conv1D(channels, 3, padding="same", dilation_rate=dilation)
        self.conv_b = tf.keras.layers.Conv1D(channels, 1)
        self.norm = tf.keras.layers.LayerNormalization()

    def call(self, x):
        return x + self.conv_b(tf.nn.gelu(self.norm(self.conv_a(x))))


class SpotterNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.stem = tf.keras.layers.Conv1D(48, 3, padding="same")
        self.blocks = [ResidualConv(48, d) for d in (1, 2, 4)]
        self.head = tf.keras.layers.Dense(len(WORDS))

    def call(self, x, training=False):
        h = self.stem(x)
        for block in self.blocks:
            h = block(h)
        return self.head(tf.reduce_mean(h, axis=1))


class Trainer:
    def __init__(self, net, store, held_out):
        self.net = net
        self.store = store
        self.held_out = held_out
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.net(tf.zeros((1, 50, MELS)))
        self.opt.build(self.net.trainable_variables)
        self.update = tf.function(self._update)
        self.best = 0.0

    def _update(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def confusion(self):
        """Confusion matrix over the held out speakers."""

        def score(x, y):
            probs = tf.nn.softmax(self.net(x, training=False))
            noisy = tf.nn.softmax(self.net(x + tf.random.normal(tf.shape(x), stddev=0.1)))
            guess = tf.argmax(0.5 * (probs + noisy), axis=1)
            return tf.math.confusion_matrix(y, guess, num_classes=len(WORDS))

        score = tf.function(score)
        total = np.zeros((len(WORDS), len(WORDS)), np.int64)
        for x, y in self.held_out:
            total += score(x, y).numpy()
        return total

    def fit(self, steps):
        batches = self.store.bucket_batches()
        running = 0.0
        for step in range(1, steps + 1):
            x, y = next(batches)
            loss = self.update(x, y)
            running = 0.95 * running + 0.05 * float(loss)
            if step % EVAL_EVERY == 0:
                table = self.confusion()
                acc = np.trace(table) / table.sum()
                self.best = max(self.best, acc)
                worst = WORDS[int(np.argmin(np.diag(table) / np.maximum(table.sum(1), 1)))]
                print(f"step {step:4d} loss {running:.3f} acc {acc:.3f} weakest word '{worst}'")


def main():
    tf.keras.utils.set_random_seed(3)
    store = ClipStore(2400, 1)
    other = ClipStore(256, 2)
    held_out = [other.collate(np.arange(i, i + 64), width=84) for i in range(0, 256, 64)]
    t0 = time.time()
    trainer = Trainer(SpotterNet(), store, held_out)
    trainer.fit(STEPS)
    print("best %.3f, %.1f s" % (trainer.best, time.time() - t0))


if __name__ == "__main__":
    main()

"""Character language model: a two-layer transformer with learning-rate warm-up.

python char_transformer.py --steps 500 --eval-every 125
"""

import argparse
import logging
import time

import numpy as np
import tensorflow as tf

logger = logging.getLogger(__name__)


class NoamSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, width, warmup):
        self.width, self.warmup = float(width), float(warmup)

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.width**-0.5 * tf.minimum(step**-0.5, step * self.warmup**-1.5)


class Block(tf.keras.layers.Layer):
    def __init__(self, width, heads, rate):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(heads, width // heads, dropout=rate)
        self.feed = tf.keras.Sequential(
            [tf.keras.layers.Dense(4 * width, "gelu"), tf.keras.layers.Dense(width)]
        )
        self.norm1 = tf.keras.layers.LayerNormalization()
        self.norm2 = tf.keras.layers.LayerNormalization()

    def call(self, x, training=False):
        y = self.norm1(x)
        x = x + self.attention(y, y, use_causal_mask=True, training=training)
        return x + self.feed(self.norm2(x))


class LanguageModel(tf.keras.Model):
    def __init__(self, symbols, context, width=64, depth=2):
        super().__init__()
        self.symbols = tf.keras.layers.Embedding(symbols, width)
        self.places = tf.keras.layers.Embedding(context, width)
        self.blocks = [Block(width, 4, 0.1) for _ in range(depth)]
        self.out = tf.keras.layers.Dense(symbols)

    def call(self, tokens, training=False):
        x = self.symbols(tokens) + self.places(tf.range(tf.shape(tokens)[1]))
        for block in self.blocks:
            x = block(x, training=training)
        return self.out(x)


def corpus():
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("aeioubcdfglmnprst"), rng.integers(2, 8))) for _ in range(300)]
    return " ".join(rng.choice(words, 30_000))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--eval-every", type=int, default=75)
    parser.add_argument("--context", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--clip", type=float, default=1.0)
    args = parser.parse_args()
    logging.basicConfig(format="[%(levelname)s] %(message)s", level=logging.INFO)

    text = corpus()
    symbols = sorted(set(text))
    ids = tf.constant([symbols.index(c) for c in text], tf.int32)
    windows = tf.data.Dataset.from_tensor_slices(ids).batch(args.context + 1, drop_remainder=True)
    windows = windows.map(lambda w: (w[:-1], w[1:]), num_parallel_calls=tf.data.AUTOTUNE).cache()
    held = windows.take(200).batch(args.batch_size)
    train = windows.skip(200).shuffle(2000).repeat().batch(args.batch_size).prefetch(2)

    model = LanguageModel(len(symbols), args.context)
    optimizer = tf.keras.optimizers.Adam(NoamSchedule(64, 150), beta_2=0.98)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, args.clip)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(reduce_retracing=True)
    def eval_step(x, y):
        return loss_fn(y, model(x))

    began = time.monotonic()
    for step, (x, y) in enumerate(train.take(args.steps), 1):
        loss = train_step(x, y)
        if step % args.eval_every == 0:
            held_loss = np.mean([eval_step(a, b).numpy() for a, b in held])
            seconds = time.monotonic() - began
            logger.info("step %d train %.3f held %.3f (%.1f s)", step, loss, held_loss, seconds)


if __name__ == "__main__":
    main()

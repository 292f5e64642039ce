"""Character level encoder-decoder that rewrites free-form dates as YYYY-MM-DD."""

import argparse
import datetime
import time

import numpy as np
import tensorflow as tf

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 ,./-"
PAD, START = 0, 1
CHAR_TO_ID = {c: i + 2 for i, c in enumerate(ALPHABET)}
VOCAB = len(ALPHABET) + 2
MAX_IN, MAX_OUT = 32, 10


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=420)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--units", type=int, default=160)
    p.add_argument("--eval-every", type=int, default=140)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def render(day, style):
    m, wd = MONTHS[day.month - 1], DAYS[day.weekday()]
    if style == 0:
        return f"{wd}, {m} {day.day}, {day.year}"
    if style == 1:
        return f"{day.day} {m[:3]} {day.year}"
    if style == 2:
        return f"{day.month}/{day.day}/{day.year}"
    if style == 3:
        return f"{wd[:3]} {day.day:02d}.{day.month:02d}.{day.year}"
    return f"{m} {day.day} of {day.year}"


def encode(text, length):
    ids = [CHAR_TO_ID[c] for c in text[:length]]
    return ids + [PAD] * (length - len(ids))


def build_corpus(n, rng):
    first = datetime.date(1950, 1, 1)
    src = np.zeros((n, MAX_IN), np.int32)
    dst = np.zeros((n, MAX_OUT), np.int32)
    offsets = rng.integers(0, 365 * 100, n)
    styles = rng.integers(0, 5, n)
    for i in range(n):
        day = first + datetime.timedelta(days=int(offsets[i]))
        src[i] = encode(render(day, styles[i]), MAX_IN)
        dst[i] = encode(day.isoformat(), MAX_OUT)
    return src, dst


def batches(src, dst, size, rng):
    while True:
        order = rng.permutation(len(src))
        for lo in range(0, len(src) - size + 1, size):
            pick = order[lo : lo + size]
            yield src[pick], dst[pick]


class AdditiveAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.w_query = tf.keras.layers.Dense(units, use_bias=False)
        self.w_memory = tf.keras.layers.Dense(units, use_bias=False)
        self.v = tf.keras.layers.Dense(1, use_bias=False)

    def call(self, query, memory, bias):
        q = self.w_query(query)[:, tf.newaxis, :]
        keys = self.w_memory(memory)
        score = self.v(tf.nn.tanh(q + keys)) + bias
        weights = tf.nn.softmax(score, axis=1)
        return tf.reduce_sum(weights * memory, axis=1)


class DateModel(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.embed_in = tf.keras.layers.Embedding(VOCAB, 48)
        self.embed_out = tf.keras.layers.Embedding(VOCAB, 48)
        self.encoder = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.attention = AdditiveAttention(units)
        self.cell = tf.keras.layers.GRUCell(units)
        self.project = tf.keras.layers.Dense(VOCAB)

    def call(self, source, target=None):
        memory, state = self.encoder(self.embed_in(source))
        bias = tf.cast(tf.equal(source, PAD), tf.float32)[:, :, tf.newaxis] * -1e9
        token = tf.fill([tf.shape(source)[0]], START)
        outputs = []
        for t in range(MAX_OUT):
            context = self.attention(state, memory, bias)
            inputs = tf.concat([self.embed_out(token), context], axis=-1)
            _, new_state = self.cell(inputs, [state])
            state = new_state[0]
            logits = self.project(state)
            outputs.append(logits)
            if target is not None:
                token = target[:, t]
            else:
                token = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return tf.stack(outputs, axis=1)


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    src, dst = build_corpus(24000, rng)
    val_src, val_dst = src[:1024], dst[:1024]
    train = batches(src[1024:], dst[1024:], args.batch_size, rng)

    model = DateModel(args.units)
    schedule = tf.keras.optimizers.schedules.CosineDecay(
        1e-4, args.steps, alpha=0.05, warmup_target=3e-3, warmup_steps=60
    )
    optimizer = tf.keras.optimizers.Adam(schedule, global_clipnorm=1.0)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def greedy(x):
        return tf.argmax(model(x), axis=-1, output_type=tf.int32)

    started = time.time()
    running = tf.keras.metrics.Mean()
    for step in range(1, args.steps + 1):
        x, y = next(train)
        running.update_state(train_step(x, y))
        if step % args.eval_every == 0:
            pred = greedy(val_src).numpy()
            exact = np.mean(np.all(pred == val_dst, axis=1))
            digit = np.mean(pred == val_dst)
            print(
                f"step {step:4d} loss {float(running.result()):.4f} "
                f"char acc {digit:.3f} exact {exact:.3f} [{time.time() - started:.0f}s]"
            )
            running.reset_state()


if __name__ == "__main__":
    main()

"""Deep knowledge tracing on simulated students, with the waviness terms of DKT+.

The recurrent model sees which item a student met and whether the answer was
right, and predicts the answer to the next item.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

ITEMS = 60
SKILLS = 6
LENGTH = 36
BATCH = 64
STEPS = 260
PLAIN_STEPS = 110
RAMP_STEPS = 26
MAX_WAVINESS = 0.08


def simulate(students, seed):
    """Item response theory with a skill that improves as it is practised."""
    rng = np.random.default_rng(seed)
    skill_of = np.arange(ITEMS) % SKILLS
    difficulty = np.random.default_rng(1).normal(0.0, 1.0, ITEMS)
    ability = rng.normal(-0.4, 1.0, (students, SKILLS))
    items = rng.integers(0, ITEMS, (students, LENGTH))
    correct = np.zeros((students, LENGTH), np.int32)
    rows = np.arange(students)
    for t in range(LENGTH):
        skill = skill_of[items[:, t]]
        p = 1.0 / (1.0 + np.exp(-(ability[rows, skill] - difficulty[items[:, t]])))
        correct[:, t] = rng.random(students) < p
        ability[rows, skill] += 0.12 + 0.1 * correct[:, t]
    return items.astype(np.int32), correct


def build_tracer():
    seen = keras.Input((None,), dtype="int32")
    x = layers.Embedding(2 * ITEMS, 48)(seen)
    x = layers.GRU(72, return_sequences=True)(x)
    x = layers.Dropout(0.1)(x)
    return keras.Model(seen, layers.Dense(ITEMS)(x), name="tracer")


def bce(logits, target):
    return ops.mean(ops.relu(logits) - logits * target + ops.log1p(ops.exp(-ops.abs(logits))))


def area_under_curve(scores, labels):
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


tracer = build_tracer()
optimizer = keras.optimizers.Adam(4e-3)


def next_item_logits(logits, next_items):
    return ops.sum(logits * ops.one_hot(next_items, ITEMS), axis=-1)


@tf.function
def train_step(seen, next_items, next_correct, waviness):
    with tf.GradientTape() as tape:
        logits = tracer(seen, training=True)
        fit = bce(next_item_logits(logits, next_items), next_correct)
        proba = ops.sigmoid(logits)
        jump = proba[:, 1:] - proba[:, :-1]
        wave = ops.mean(ops.abs(jump)) + ops.mean(ops.square(jump))
        total = fit + waviness * wave
    grads = tape.gradient(total, tracer.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, tracer.trainable_variables))
    return fit, wave, norm


@tf.function
def predict_next(seen, next_items):
    return ops.sigmoid(next_item_logits(tracer(seen, training=False), next_items))


def split(items, correct):
    seen = items[:, :-1] + ITEMS * correct[:, :-1]
    return seen, items[:, 1:], correct[:, 1:].astype(np.float32)


def waviness_at(step):
    done = (step - PLAIN_STEPS) / RAMP_STEPS
    return MAX_WAVINESS * min(max(done, 0.0), 1.0)


def main():
    keras.utils.set_random_seed(5)
    seen, next_items, next_correct = split(*simulate(3000, seed=2))
    held_seen, held_items, held_correct = split(*simulate(400, seed=3))
    rng = np.random.default_rng(4)
    began = time.perf_counter()
    fits = []
    for step in range(1, STEPS + 1):
        rows = rng.integers(0, len(seen), BATCH)
        weight = waviness_at(step)
        fit, wave, _ = train_step(
            tf.constant(seen[rows]),
            tf.constant(next_items[rows]),
            tf.constant(next_correct[rows]),
            weight,
        )
        fits.append(fit)
        if step % 20 == 0:
            print(
                f"step {step:4d}  bce {np.mean(fits):.4f}  waviness {float(wave):.4f} (weight {weight:.3f})"
                f"  {time.perf_counter() - began:6.1f} s",
                flush=True,
            )
            fits = []
    scores = predict_next(tf.constant(held_seen), tf.constant(held_items)).numpy()
    print(f"held-out AUC {area_under_curve(scores.ravel(), held_correct.ravel()):.4f}")


if __name__ == "__main__":
    main()

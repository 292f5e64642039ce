"""Causal transformer over opcode traces: tf.Module, gradient accumulation, warm-up schedule."""

import math
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

VOCAB, CONTEXT = 256, 64
DIM, HEADS, LAYERS = 128, 4, 3
MICRO, ACCUM = 12, 4
UPDATES = 150
WARMUP = 15
SAVE_EVERY = 30


def synth_traces(n_tokens, rng):
    """Order-2 process with loops, like short basic blocks that repeat."""
    blocks = [rng.integers(0, VOCAB, rng.integers(4, 12)) for _ in range(60)]
    nxt = rng.dirichlet(np.full(60, 0.08), 60)
    out, total, b = [], 0, 0
    while total < n_tokens:
        for _ in range(int(rng.geometric(0.5))):
            out.append(blocks[b])
            total += len(blocks[b])
        b = int(rng.choice(60, p=nxt[b]))
    return np.concatenate(out)[:n_tokens].astype("int32")


class Linear(tf.Module):
    def __init__(self, n_in, n_out, name=None, scale=1.0):
        super().__init__(name)
        self.w = tf.Variable(
            tf.random.normal((n_in, n_out), stddev=scale / math.sqrt(n_in)), name="w"
        )
        self.b = tf.Variable(tf.zeros(n_out), name="b")

    def __call__(self, x):
        return tf.tensordot(x, self.w, 1) + self.b


class Norm(tf.Module):
    def __init__(self, dim, name=None):
        super().__init__(name)
        self.g, self.b = tf.Variable(tf.ones(dim), name="g"), tf.Variable(tf.zeros(dim), name="b")

    def __call__(self, x):
        mean, var = tf.nn.moments(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(var + 1e-5) * self.g + self.b


class Block(tf.Module):
    def __init__(self, dim, heads, name=None):
        super().__init__(name)
        self.heads = heads
        self.n1, self.n2 = Norm(dim), Norm(dim)
        self.qkv, self.proj = Linear(dim, 3 * dim), Linear(dim, dim, scale=0.5)
        self.up, self.down = Linear(dim, 4 * dim), Linear(4 * dim, dim, scale=0.5)

    def __call__(self, x, bias):
        b, t, d = x.shape
        q, k, v = tf.split(
            tf.reshape(self.qkv(self.n1(x)), (b, t, 3 * self.heads, d // self.heads)), 3, axis=2
        )
        att = tf.einsum("bthd,bshd->bhts", q, k) / math.sqrt(d // self.heads) + bias
        mixed = tf.einsum("bhts,bshd->bthd", tf.nn.softmax(att), v)
        x = x + self.proj(tf.reshape(mixed, (b, t, d)))
        return x + self.down(tf.nn.gelu(self.up(self.n2(x)), approximate=True))


class TraceLM(tf.Module):
    def __init__(self):
        super().__init__()
        self.tok = tf.Variable(tf.random.normal((VOCAB, DIM), stddev=0.05), name="tok")
        self.pos = tf.Variable(tf.random.normal((CONTEXT, DIM), stddev=0.05), name="pos")
        self.blocks = [Block(DIM, HEADS, name=f"block{i}") for i in range(LAYERS)]
        self.final = Norm(DIM)
        mask = np.triu(np.full((CONTEXT, CONTEXT), -1e9, "float32"), 1)
        self.bias = tf.constant(mask)

    def __call__(self, tokens):
        x = tf.gather(self.tok, tokens) + self.pos
        for block in self.blocks:
            x = block(x, self.bias)
        return tf.einsum("btd,vd->btv", self.final(x), self.tok)


def learning_rate(update):
    warm = min(1.0, update / WARMUP)
    return 1e-3 * warm * 0.5 * (1 + math.cos(math.pi * update / (UPDATES + 10)))


def main():
    rng = np.random.default_rng(12)
    tf.random.set_seed(12)
    tokens = synth_traces(200_000, rng)
    held_out, tokens = tokens[:8192], tokens[8192:]
    ds = tf.data.Dataset.from_tensor_slices(tokens).batch(CONTEXT + 1, drop_remainder=True)
    ds = ds.cache().shuffle(3000).repeat().batch(MICRO, drop_remainder=True).prefetch(4)

    model = TraceLM()
    params = model.trainable_variables
    sums = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]
    optimizer = tf.keras.optimizers.AdamW(1e-3, beta_2=0.98, weight_decay=0.01)
    optimizer.build(params)
    print("parameters: %.2fM" % (sum(int(tf.size(p)) for p in params) / 1e6))

    def loss_of(batch):
        logits = model(batch[:, :-1])
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=batch[:, 1:], logits=logits)
        )

    @tf.function
    def accumulate(batch):
        with tf.GradientTape() as tape:
            loss = loss_of(batch)
        for s, g in zip(sums, tape.gradient(loss, params)):
            s.assign_add(tf.convert_to_tensor(g) / ACCUM)
        return loss

    @tf.function
    def apply():
        grads, norm = tf.clip_by_global_norm([s.value() for s in sums], 1.0)
        optimizer.apply_gradients(zip(grads, params))
        for s in sums:
            s.assign(tf.zeros_like(s))
        return norm

    validate = tf.function(loss_of)
    val = held_out[: MICRO * 8 * (CONTEXT + 1)].reshape(-1, MICRO, CONTEXT + 1)
    ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(
        ckpt, os.path.join(tempfile.mkdtemp(), "lm"), max_to_keep=2
    )

    started, running = time.time(), 0.0
    for micro, batch in enumerate(ds.take(UPDATES * ACCUM), start=1):
        running += accumulate(batch)
        if micro % ACCUM:
            continue
        update = micro // ACCUM
        optimizer.learning_rate.assign(learning_rate(update))
        norm = apply()
        if update % 15 == 0:
            print(
                "update %3d loss %.4f |g| %.2f %.1f s"
                % (update, float(running) / (15 * ACCUM), float(norm), time.time() - started)
            )
            running = 0.0
        if update % SAVE_EVERY == 0:
            manager.save()
            print("  held-out loss %.4f" % np.mean([float(validate(tf.constant(v))) for v in val]))
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()

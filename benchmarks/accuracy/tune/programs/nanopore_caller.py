"""Toy base caller: dilated convolutions over current signals of different length."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf

LEVELS = np.array([-1.2, -0.4, 0.5, 1.3], np.float32)


class Reads:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.signals, self.bases = [], []
        for _ in range(n):
            length = int(np.clip(rng.normal(230, 40), 80, 320))
            dwell = rng.integers(3, 8, length)
            seq = np.repeat(rng.integers(0, 4, length), dwell)[:length]
            self.bases.append(seq.astype(np.int32))
            self.signals.append((LEVELS[seq] + rng.normal(0, 0.35, length)).astype(np.float32))

    def batch(self, size):
        pick = self.rng.choice(len(self.signals), size, replace=False)
        longest = max(len(self.signals[i]) for i in pick)
        sig = np.zeros((size, longest), np.float32)
        lab = np.zeros((size, longest), np.int32)
        mask = np.zeros((size, longest), np.float32)
        for row, i in enumerate(pick):
            n = len(self.signals[i])
            sig[row, :n] = self.signals[i]
            lab[row, :n] = self.bases[i]
            mask[row, :n] = 1.0
        return sig, lab, mask


class Caller(tf.Module):
    def __init__(self, width=160, depth=3):
        super().__init__()
        g = tf.random.Generator.from_seed(5)
        self.stem = tf.Variable(g.normal([5, 1, width]) * 0.3)
        self.convs = [
            tf.Variable(g.normal([3, width, width]) * (1.0 / (3 * width)) ** 0.5)
            for _ in range(depth)
        ]
        self.bias = [tf.Variable(tf.zeros([width])) for _ in range(depth)]
        self.head = tf.Variable(g.normal([width, 4]) * 0.1)

    def __call__(self, sig):
        h = tf.nn.conv1d(sig[..., None], self.stem, 1, "SAME")
        for i, (k, b) in enumerate(zip(self.convs, self.bias)):
            h = h + tf.nn.relu(tf.nn.conv1d(h, k, 1, "SAME") + b)
        return h @ self.head


class Momentum(tf.Module):
    def __init__(self, params, lr, mu=0.9):
        self.params, self.lr, self.mu = params, lr, mu
        self.vel = [tf.Variable(tf.zeros_like(p)) for p in params]

    def apply(self, grads):
        for p, v, g in zip(self.params, self.vel, grads):
            v.assign(self.mu * v + g)
            p.assign_sub(self.lr * v)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=60)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    tf.random.set_seed(5)
    reads = Reads(900, 5)
    net = Caller()
    params = list(net.trainable_variables)
    opt = Momentum(params, 0.02)

    @tf.function(
        jit_compile=True,
        input_signature=[
            tf.TensorSpec([None, None], tf.float32),
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.float32),
        ],
    )
    def learn(sig, lab, mask):
        with tf.GradientTape() as tape:
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=lab, logits=net(sig))
            loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
        opt.apply(tape.gradient(loss, params))
        return loss

    t0 = time.time()
    running = None
    for u in range(args.updates):
        loss = float(learn(*map(tf.constant, reads.batch(args.batch))))
        running = loss if running is None else 0.9 * running + 0.1 * loss
        if u % 10 == 0 or u == args.updates - 1:
            print(f"update {u:3d}  ce {running:.4f}  ({time.time() - t0:.1f}s)")
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()

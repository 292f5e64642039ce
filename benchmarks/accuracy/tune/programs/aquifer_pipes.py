"""Leak localisation in a water distribution network (message passing over pipes)."""

import time
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(42)
N_NODES, N_PIPES = 1200, 3600
HID = 48
BATCH = 8

pos = rng.uniform(0, 1, (N_NODES, 2))
src_np = rng.integers(0, N_NODES, N_PIPES // 2)
near = np.argsort(((pos[src_np][:, None] - pos[None]) ** 2).sum(-1), axis=1)[:, 1:6]
dst_np = near[np.arange(len(src_np)), rng.integers(0, 5, len(src_np))]
SRC = np.concatenate([src_np, dst_np]).astype(np.int32)
DST = np.concatenate([dst_np, src_np]).astype(np.int32)
PIPE = np.stack(
    [np.linalg.norm(pos[SRC] - pos[DST], axis=1), rng.uniform(0.1, 0.6, N_PIPES)], 1
).astype(np.float32)


def scenario_batches(n):
    deg = np.maximum(np.bincount(DST, minlength=N_NODES), 1)
    for _ in range(n):
        leak = (rng.random((BATCH, N_NODES)) < 0.01).astype(np.float32)
        p = rng.normal(0, 0.2, (BATCH, N_NODES)) - 2.0 * leak
        for _ in range(2):
            agg = np.zeros_like(p)
            for b in range(BATCH):
                agg[b] = np.bincount(DST, weights=p[b, SRC], minlength=N_NODES)
            p = 0.6 * p + 0.4 * agg / deg
        obs = np.stack([p, np.broadcast_to(deg / 5.0, p.shape), rng.normal(size=p.shape)], -1)
        yield obs.astype(np.float32), leak


class PipeConv(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.msg = tf.keras.layers.Dense(units, activation="relu")
        self.upd = tf.keras.layers.Dense(units)
        self.norm = tf.keras.layers.LayerNormalization()
        self.src = tf.constant(SRC)
        self.dst = tf.constant(DST)
        self.pipe = tf.constant(PIPE)

    def call(self, h):
        b = tf.shape(h)[0]
        s = tf.one_hot(self.src, N_NODES)
        d = tf.one_hot(self.dst, N_NODES)
        hs = tf.einsum("en,bnf->bef", s, h)
        hd = tf.einsum("en,bnf->bef", d, h)
        e = tf.tile(self.pipe[None], [b, 1, 1])
        m = self.msg(tf.concat([hs, hd, e], -1))
        agg = tf.einsum("en,bef->bnf", d, m)
        return self.norm(h + self.upd(tf.concat([h, agg], -1)))


class LeakNet(tf.keras.Model):
    def __init__(self, depth=3):
        super().__init__()
        self.enc = tf.keras.layers.Dense(HID, activation="relu")
        self.convs = [PipeConv(HID) for _ in range(depth)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        h = self.enc(x)
        for c in self.convs:
            h = c(h)
        return self.out(h)[..., 0]


net = LeakNet()
opt = tf.keras.optimizers.AdamW(2e-3, weight_decay=1e-4)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        z = net(x)
        loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(y, z, 20.0))
    g = tape.gradient(loss, net.trainable_variables)
    g, _ = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, net.trainable_variables))
    hit = tf.reduce_sum(tf.cast(z > 0, tf.float32) * y) / (tf.reduce_sum(y) + 1e-6)
    return loss, hit


data = list(scenario_batches(32))
print("scenarios ready:", len(data) * BATCH)
for epoch in range(2):
    t = time.time()
    ls, hs = [], []
    for i in rng.permutation(len(data)):
        l, r = step(tf.constant(data[i][0]), tf.constant(data[i][1]))
        ls.append(float(l))
        hs.append(float(r))
        if len(ls) % 16 == 0:
            print(
                "  epoch %d [%d/%d] loss %.4f" % (epoch, len(ls), len(data), np.mean(ls[-16:])),
                flush=True,
            )
    print(
        "epoch %d: loss %.4f recall %.3f  %.1fs"
        % (epoch, np.mean(ls), np.mean(hs), time.time() - t),
        flush=True,
    )

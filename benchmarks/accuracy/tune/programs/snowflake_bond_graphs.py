"""Energy regression on small ice clusters with a hand-written message passing net."""

import argparse
import time

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--clusters", type=int, default=2400)
    p.add_argument("--per-batch", type=int, default=24)
    p.add_argument("--steps", type=int, default=220)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def make_clusters(n, rng):
    """Random water clusters: node features, neighbour pairs, one energy each."""
    out = []
    for _ in range(n):
        k = int(rng.integers(8, 40))
        pos = rng.normal(size=(k, 3)).astype("float32") * k ** (1 / 3)
        d = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
        order = np.argsort(d, axis=1)[:, 1:7]
        src = np.repeat(np.arange(k), 6).astype("int32")
        dst = order.reshape(-1).astype("int32")
        dist = d[src, dst].astype("float32")
        charge = rng.normal(size=(k, 1)).astype("float32")
        feats = np.concatenate([pos, charge], 1)
        energy = float(np.sum(charge[src, 0] * charge[dst, 0] / (dist + 0.5)) / k)
        out.append((feats, src, dst, dist, energy))
    return out


def collate(clusters):
    feats, src, dst, dist, owner, energy = [], [], [], [], [], []
    base = 0
    for i, (f, s, d, r, e) in enumerate(clusters):
        feats.append(f)
        src.append(s + base)
        dst.append(d + base)
        dist.append(r)
        owner.append(np.full(len(f), i, "int32"))
        energy.append(e)
        base += len(f)
    batch = [np.concatenate(a) for a in (feats, src, dst, dist, owner)]
    return batch + [np.array(energy, "float32")]


class BondNet(tf.Module):
    def __init__(self, width, layers=3, seed=0):
        super().__init__()
        init = tf.random_normal_initializer(stddev=0.08, seed=seed)
        self.inp = tf.Variable(init((4, width)))
        self.msg = [tf.Variable(init((width * 2 + 1, width))) for _ in range(layers)]
        self.upd = [tf.Variable(init((width * 2, width))) for _ in range(layers)]
        self.out = tf.Variable(init((width, 1)))

    def __call__(self, feats, src, dst, dist, owner, n_graphs):
        h = tf.nn.silu(feats @ self.inp)
        for wm, wu in zip(self.msg, self.upd):
            pair = tf.concat([tf.gather(h, src), tf.gather(h, dst), dist[:, None]], 1)
            m = tf.nn.silu(pair @ wm)
            agg = tf.math.unsorted_segment_sum(m, src, feats.shape[0])
            h = h + tf.nn.silu(tf.concat([h, agg], 1) @ wu)
        atom = (h @ self.out)[:, 0]
        return tf.math.unsorted_segment_sum(atom, owner, n_graphs) / 20.0


class Trainer:
    def __init__(self, net, per_batch):
        self.net = net
        self.per_batch = per_batch
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.opt.build(net.trainable_variables)

    @tf.function(jit_compile=True)
    def update(self, feats, src, dst, dist, owner, energy):
        with tf.GradientTape() as tape:
            pred = self.net(feats, src, dst, dist, owner, self.per_batch)
            loss = tf.reduce_mean(tf.math.squared_difference(pred, energy))
        variables = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def step(self, batch):
        return self.update(*[tf.constant(b) for b in batch])


def main():
    a = parse()
    rng = np.random.default_rng(a.seed)
    tf.random.set_seed(a.seed)
    clusters = make_clusters(a.clusters, rng)
    trainer = Trainer(BondNet(a.width, seed=a.seed), a.per_batch)
    t0 = time.perf_counter()
    losses = []
    pick = rng.permutation(len(clusters))
    sizes = np.array([len(c[0]) for c in clusters])
    # start with small clusters of one size, then the whole mixture
    small = np.where(sizes == 12)[0]
    for step in range(a.steps):
        if step < a.steps - 10:
            chosen = rng.choice(small, a.per_batch)
        else:
            chosen = rng.choice(pick, a.per_batch)
        batch = collate([clusters[i] for i in chosen])
        losses.append(trainer.step(batch))
        if (step + 1) % 40 == 0:
            print(f"step {step + 1} mse {np.mean([float(l) for l in losses[-40:]]):.4f}")
    print(f"trained in {time.perf_counter() - t0:.1f} s, last {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()

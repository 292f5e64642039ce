"""Message passing on random 'molecules': predict a pairwise energy from atoms and distances."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    molecules: int = 3000
    kinds: int = 5
    width: int = 48
    layers: int = 2
    batch: int = 24
    steps: int = 400
    lr: float = 2e-3
    seed: int = 11


def sample_molecule(rng, cfg, charges):
    n = int(np.clip(6 + rng.gamma(3.0, 2.5), 6, 32))
    kind = rng.integers(0, cfg.kinds, n)
    xyz = rng.normal(size=(n, 3)) * n ** (1 / 3)
    dist = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
    near = np.exp(-0.5 * dist**2) * (1 - np.eye(n))
    energy = 0.5 * np.sum(near * charges[kind][:, None] * charges[kind][None]) / np.sqrt(n)
    return kind.astype("int32"), near.astype("float32"), np.float32(energy)


def collate(mols):
    n = max(len(kind) for kind, _, _ in mols)
    atoms = np.zeros((len(mols), n), "int32")
    bonds = np.zeros((len(mols), n, n), "float32")
    mask = np.zeros((len(mols), n), "float32")
    energy = np.zeros(len(mols), "float32")
    for k, (kind, near, e) in enumerate(mols):
        m = len(kind)
        atoms[k, :m], bonds[k, :m, :m], mask[k, :m], energy[k] = kind, near, 1.0, e
    return atoms, bonds, mask, energy


class Linear(tf.Module):
    def __init__(self, fan_in, fan_out, rng, name=None):
        super().__init__(name)
        scale = np.sqrt(2.0 / fan_in)
        self.w = tf.Variable(rng.normal(size=(fan_in, fan_out), scale=scale).astype("float32"))
        self.b = tf.Variable(tf.zeros([fan_out]))

    def __call__(self, x):
        return tf.einsum("...i,ij->...j", x, self.w) + self.b


class EnergyNet(tf.Module):
    def __init__(self, cfg, rng):
        super().__init__()
        d = cfg.width
        self.embed = tf.Variable(rng.normal(size=(cfg.kinds, d), scale=0.5).astype("float32"))
        self.message = [Linear(d, d, rng) for _ in range(cfg.layers)]
        self.update = [Linear(2 * d, d, rng) for _ in range(cfg.layers)]
        self.hidden, self.head = Linear(d, d, rng), Linear(d, 1, rng)

    def __call__(self, atoms, bonds, mask):
        h = tf.gather(self.embed, atoms) * mask[..., None]
        for message, update in zip(self.message, self.update):
            m = tf.matmul(bonds, message(h))
            h = h + tf.nn.silu(update(tf.concat([h, m], -1))) * mask[..., None]
        per_atom = self.head(tf.nn.silu(self.hidden(h)))[..., 0] * mask
        return tf.reduce_sum(per_atom, -1) / tf.sqrt(tf.reduce_sum(mask, -1))


class Learner(tf.Module):
    def __init__(self, net, lr):
        super().__init__()
        self.net, self.lr = net, lr
        self.params = list(net.trainable_variables)
        self.m = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.params]
        self.v = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.params]
        self.t = tf.Variable(0.0, trainable=False)

    @tf.function(
        jit_compile=True,
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None, None], tf.float32),
            tf.TensorSpec([None, None], tf.float32),
            tf.TensorSpec([None], tf.float32),
        ],
    )
    def train(self, atoms, bonds, mask, energy):
        with tf.GradientTape() as tape:
            err = self.net(atoms, bonds, mask) - energy
            loss = tf.reduce_mean(tf.square(err))
        grads = tape.gradient(loss, self.params)
        self.t.assign_add(1.0)
        rate = self.lr * tf.sqrt(1.0 - 0.999**self.t) / (1.0 - 0.9**self.t)
        for p, g, m, v in zip(self.params, grads, self.m, self.v):
            g = tf.convert_to_tensor(g)
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            p.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
        return loss, tf.reduce_mean(tf.abs(err))


def main():
    cfg = Config()
    rng = np.random.default_rng(cfg.seed)
    charges = rng.normal(size=cfg.kinds)
    mols = [sample_molecule(rng, cfg, charges) for _ in range(cfg.molecules)]
    sizes = [len(kind) for kind, _, _ in mols]
    print(f"{cfg.molecules} molecules, {min(sizes)}-{max(sizes)} atoms, mean {np.mean(sizes):.1f}")
    learner = Learner(EnergyNet(cfg, rng), cfg.lr)
    began, recent = time.perf_counter(), []
    for step in range(1, cfg.steps + 1):
        picks = rng.choice(cfg.molecules, cfg.batch, replace=False)
        loss, mae = learner.train(*map(tf.constant, collate([mols[k] for k in picks])))
        recent.append((float(loss), float(mae)))
        if step % 50 == 0:
            mse, mae = np.mean(recent[-50:], axis=0)
            print(
                f"step {step:4d}  mse {mse:8.4f}  mae {mae:6.4f}  "
                f"elapsed {time.perf_counter() - began:5.1f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Crease patterns as a sparse dictionary: alternate between codes and atoms."""

import numpy as np
import tensorflow as tf


class Hyper:
    seed = 1797
    patch = 24
    atoms = 768
    patches = 2048
    rounds = 72
    code_steps = 12
    atom_steps = 6
    sparsity = 0.02


hp = Hyper()
np.random.seed(hp.seed)
tf.random.set_seed(hp.seed)


def fold_paper(n, size):
    """Every patch: a few straight creases, valley or mountain."""
    yy, xx = np.mgrid[0:size, 0:size] / size - 0.5
    out = np.zeros((n, size * size), "float32")
    for i in range(n):
        p = np.zeros((size, size))
        for _ in range(np.random.randint(1, 4)):
            th, off = np.random.uniform(0, np.pi), np.random.uniform(-0.4, 0.4)
            d = xx * np.cos(th) + yy * np.sin(th) - off
            p += np.random.choice([-1, 1]) * np.exp(-((d / 0.05) ** 2))
        out[i] = p.ravel()
    return out - out.mean(1, keepdims=True)


class CreaseDictionary(tf.Module):
    def __init__(self, data):
        super().__init__()
        self.data = tf.constant(data)
        d = np.random.randn(hp.atoms, data.shape[1]).astype("float32")
        self.atoms = tf.Variable(d / np.linalg.norm(d, axis=1, keepdims=True))
        self.codes = tf.Variable(tf.zeros([len(data), hp.atoms]))
        self.eye = tf.eye(hp.atoms)

    def lipschitz(self, gram):
        v = tf.ones([hp.atoms, 1])
        for _ in range(8):
            v = tf.linalg.normalize(tf.matmul(gram, v))[0]
        return 1.05 * tf.reduce_sum(v * tf.matmul(gram, v)) + 1e-6

    @tf.function
    def fit_codes(self):
        """ISTA with the Gram matrix of the present atoms."""
        gram = tf.matmul(self.atoms, self.atoms, transpose_b=True)
        lip = self.lipschitz(gram)
        shrink = hp.sparsity / lip
        move = self.eye - gram / lip
        shift = tf.matmul(self.data, self.atoms, transpose_b=True) / lip
        c = self.codes.read_value()
        for _ in tf.range(hp.code_steps):
            c = tf.matmul(c, move) + shift
            c = c - tf.clip_by_value(c, -shrink, shrink)
        self.codes.assign(c)
        return tf.reduce_mean(tf.cast(c != 0.0, tf.float32))

    @tf.function
    def fit_atoms(self):
        """Projected gradient steps from the second moments of the codes."""
        moment = tf.matmul(self.codes, self.codes, transpose_a=True)
        cross = tf.matmul(self.codes, self.data, transpose_a=True)
        lip = self.lipschitz(moment)
        d = self.atoms.read_value()
        for _ in tf.range(hp.atom_steps):
            d = tf.math.l2_normalize(d - (tf.matmul(moment, d) - cross) / lip, axis=1)
        self.atoms.assign(d)
        return tf.reduce_mean(tf.square(tf.matmul(self.codes, d) - self.data))


def main():
    print("folding", hp.patches, "patches")
    model = CreaseDictionary(fold_paper(hp.patches, hp.patch))
    for r in range(hp.rounds):
        active = model.fit_codes()
        err = model.fit_atoms()
        if r % 18 == 17:
            print(f"round {r + 1:3d}  error {float(err):.5f}  active {float(active):.3f}")
    used = tf.reduce_sum(tf.cast(tf.reduce_any(model.codes != 0.0, axis=0), tf.int32))
    print("atoms in use:", int(used))


if __name__ == "__main__":
    main()

"""Fits the temperature dependence of the rates in a leaching chain of six
compounds. Rates span eight decades, so the chain is stiff: implicit steps in
double precision, with a fresh system at every step as the temperature moves."""

import numpy as np
import tensorflow as tf

SPECIES = 6
RUNS = 192
TIMES = 40
STEPS = 1800
DT = 0.5
F = tf.float64


def ramps(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, TIMES)[None]
    base = rng.uniform(280, 330, (n, 1))
    return (
        base
        + 40 * rng.uniform(-1, 1, (n, 1)) * t
        + 8 * np.sin(6.28 * t * rng.uniform(0.5, 3, (n, 1)))
    )


class Rates(tf.Module):
    """log k(T) for the five transfers i -> i+1 and the weak back reactions."""

    def __init__(self, shift=0.0):
        super().__init__()
        fwd = np.log(10.0) * np.array([-4.0, 1.0, -2.0, 3.0, -1.0])
        self.log_f = tf.Variable(fwd + shift, dtype=F)
        self.log_b = tf.Variable(fwd - 3.0 + shift, dtype=F)
        self.energy = tf.Variable(np.full(5, 4.0 + shift), dtype=F)

    def generator(self, temp):
        warm = (temp[:, None] - 300.0) / 300.0
        kf = tf.exp(self.log_f + self.energy * warm)
        kb = tf.exp(self.log_b + 0.5 * self.energy * warm)
        zero = tf.zeros_like(kf[:, :1])
        leave = tf.concat([kf, zero], 1) + tf.concat([zero, kb], 1)
        return tf.linalg.diag(kf, k=-1) + tf.linalg.diag(kb, k=1) - tf.linalg.diag(leave)


def integrate(rates, temps):
    c = tf.concat([tf.ones((RUNS, 1), F), tf.zeros((RUNS, SPECIES - 1), F)], 1)
    eye = tf.eye(SPECIES, dtype=F)[None]
    path = tf.TensorArray(F, TIMES, element_shape=(RUNS, SPECIES))
    for i in tf.range(TIMES):
        system = eye - DT * rates.generator(temps[:, i])
        c = tf.squeeze(tf.linalg.solve(system, c[:, :, None]), 2)
        c = tf.ensure_shape(c, (RUNS, SPECIES))
        path = path.write(i, c)
    return tf.transpose(path.stack(), [1, 0, 2])


truth = Rates()
model = Rates(shift=0.7)
opt = tf.keras.optimizers.Adam(0.02)
simulate = tf.function(integrate)


@tf.function
def step(temps, seen):
    with tf.GradientTape() as tape:
        c = integrate(model, temps)
        loss = tf.reduce_mean((tf.math.log(c + 1e-9) - tf.math.log(seen + 1e-9)) ** 2)
    v = model.trainable_variables
    g, norm = tf.clip_by_global_norm(tape.gradient(loss, v), 5.0)
    opt.apply_gradients(zip(g, v))
    return loss, norm


def main():
    rng = np.random.default_rng(0)
    sets = []
    for s in range(6):
        temps = tf.constant(ramps(RUNS, s), F)
        clean = simulate(truth, temps)
        sets.append((temps, clean * tf.exp(0.01 * rng.normal(size=clean.shape))))
    for i in range(STEPS):
        loss, norm = step(*sets[i % len(sets)])
        if i % 200 == 0:
            off = float(tf.reduce_max(tf.abs(model.log_f - truth.log_f)))
            print(
                i, f"loss {float(loss):.5f} |g| {float(norm):.2e} worst rate {off:.3f}", flush=True
            )


if __name__ == "__main__":
    main()

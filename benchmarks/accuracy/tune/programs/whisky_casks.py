"""Cask age from spectra, made blind to the distillery: regressor and adversary take turns."""

import dataclasses
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclasses.dataclass(frozen=True)
class Options:
    casks: int = 16384
    bands: int = 256
    distilleries: int = 10
    batch: int = 512
    rounds: int = 7
    regressor_steps: int = 16
    adversary_steps: int = 24
    weight: float = 0.3


def make_casks(o, seed):
    rng = np.random.default_rng(seed)
    age = rng.uniform(3, 30, o.casks)
    house = rng.integers(0, o.distilleries, o.casks)
    signature = rng.normal(0, 1, (o.distilleries, o.bands))
    wood = rng.normal(0, 1, (4, o.bands))
    basis = np.stack([age / 30, np.sqrt(age / 30), np.sin(age / 4), age**2 / 900], 1)
    x = basis @ wood + signature[house] + rng.normal(0, 0.7, (o.casks, o.bands))
    return (x.astype("float32"), (age[:, None] / 30).astype("float32"), house.astype("int32"))


def mlp(sizes, out, name):
    return keras.Sequential(
        [layers.Dense(s, activation="relu") for s in sizes] + [layers.Dense(out)], name=name
    )


class BlindRegressor:
    def __init__(self, o, data):
        self.o = o
        self.encoder = mlp([1024, 1024], 64, "encoder")
        self.age = mlp([64], 1, "age")
        self.adversary = mlp([1536, 1536], o.distilleries, "adversary")
        self.age(self.encoder(tf.zeros((1, o.bands))))
        self.adversary(tf.zeros((1, 64)))
        self.main_vars = self.encoder.trainable_variables + self.age.trainable_variables
        self.adv_vars = self.adversary.trainable_variables
        self.main_opt = keras.optimizers.Adam(5e-4)
        self.adv_opt = keras.optimizers.Adam(1e-3)
        self.main_opt.build(self.main_vars)
        self.adv_opt.build(self.adv_vars)
        self.stream = iter(
            tf.data.Dataset.from_tensor_slices(data)
            .shuffle(4096, seed=3)
            .repeat()
            .batch(o.batch)
            .prefetch(4)
        )

    def house_loss(self, code, house):
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=house, logits=self.adversary(code)
            )
        )

    @tf.function
    def regressor_step(self, x, age, house):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.main_vars])
            code = self.encoder(x)
            fit = tf.reduce_mean(tf.square(self.age(code) - age))
            loss = fit - self.o.weight * tf.minimum(self.house_loss(code, house), 2.3)
        self.main_opt.apply_gradients(zip(tape.gradient(loss, self.main_vars), self.main_vars))
        return fit

    @tf.function
    def adversary_step(self, x, house):
        code = self.encoder(x)
        with tf.GradientTape() as tape:
            loss = self.house_loss(code, house)
        self.adv_opt.apply_gradients(zip(tape.gradient(loss, self.adv_vars), self.adv_vars))
        return loss

    def play(self):
        for r in range(self.o.rounds):
            t0 = time.time()
            for _ in range(self.o.regressor_steps):
                x, age, house = next(self.stream)
                fit = self.regressor_step(x, age, house)
            t1 = time.time()
            for _ in range(self.o.adversary_steps):
                x, _, house = next(self.stream)
                adv = self.adversary_step(x, house)
            print(
                f"round {r}: age rmse {30 * float(fit) ** 0.5:5.2f} y [{t1 - t0:.1f}s]  "
                f"distillery loss {float(adv):.3f} [{time.time() - t1:.1f}s]"
            )


def main():
    keras.utils.set_random_seed(12)
    o = Options()
    BlindRegressor(o, make_casks(o, seed=12)).play()


if __name__ == "__main__":
    main()

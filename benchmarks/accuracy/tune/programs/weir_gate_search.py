"""Hand-written search over networks that predict the leakage of old weir gates; successive survivors."""

import itertools
import os
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

SPACE = {"width": [96, 160], "depth": [1, 2], "lr": [3e-3]}


@dataclass
class Trial:
    name: str
    width: int
    depth: int
    lr: float
    score: float = float("inf")
    curve: list = field(default_factory=list)
    trained: int = 0


def gates(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 14)).astype("float32")
    head, width, rust, seal = x[:, 0] + 1.2, x[:, 1] + 1.5, np.clip(x[:, 2], 0, 1), x[:, 3]
    leak = (
        np.sqrt(head) * width * (0.2 + rust**2) * np.exp(-seal)
        + 0.1 * np.sin(5 * x[:, 4]) * x[:, 5]
    )
    return x, (leak + 0.03 * rng.normal(size=n)).astype("float32")[:, None]


class ResidualNet(tf.keras.Model):
    def __init__(self, width, depth):
        super().__init__()
        self.stem = tf.keras.layers.Dense(width, activation="swish")
        self.blocks = [
            (
                tf.keras.layers.Dense(width, activation="swish"),
                tf.keras.layers.Dense(width),
                tf.keras.layers.LayerNormalization(),
            )
            for _ in range(depth)
        ]
        self.mean = tf.keras.layers.Dense(1)

    def call(self, x):
        h = self.stem(x)
        for up, down, norm in self.blocks:
            h = norm(h + down(up(h)))
        return self.mean(h)


class Lab:
    def __init__(self, train, valid, batch):
        self.train, self.valid, self.batch = train, valid, batch
        self.folder = tempfile.mkdtemp(prefix="weir_")
        self.best = None

    def open(self, trial):
        model = ResidualNet(trial.width, trial.depth)
        model(self.train[0][:2])
        opt = tf.keras.optimizers.Adam(trial.lr)
        opt.build(model.trainable_variables)

        @tf.function(jit_compile=True)
        def update(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.keras.losses.huber(y, model(x), delta=0.5))
            grads = tape.gradient(loss, model.trainable_variables)
            opt.apply_gradients(zip(grads, model.trainable_variables))
            return loss

        return model, opt, update

    def path(self, trial):
        return os.path.join(self.folder, trial.name)

    def run(self, trial, epochs):
        model, opt, update = self.open(trial)
        ckpt = tf.train.Checkpoint(model=model, opt=opt)
        if trial.trained:
            ckpt.read(self.path(trial))
        x, y = self.train
        rng = np.random.default_rng(trial.trained)
        for _ in range(epochs):
            order = rng.permutation(len(x))
            for a in range(0, len(x), self.batch):
                pick = order[a : a + self.batch]
                update(tf.constant(x[pick]), tf.constant(y[pick]))
            trial.trained += 1
            trial.curve.append(self.grade(model))
        trial.score = min(trial.curve)
        ckpt.write(self.path(trial))
        return trial

    def grade(self, model):
        """Mean error over the valid gates with their settings wiggled, worst inspector first."""
        x, y = self.valid
        errors = []
        for inspector in range(3):
            wobble = (
                np.random.default_rng(inspector).normal(scale=0.02, size=x.shape).astype("float32")
            )
            per_gate = [
                float(
                    tf.abs(model(x[i : i + 10] + wobble[i : i + 10]) - y[i : i + 10])[:, 0]
                    .numpy()
                    .mean()
                )
                for i in range(0, len(x), 10)
            ]
            errors.append(np.mean(per_gate))
        return float(max(errors))


def main():
    tf.keras.utils.set_random_seed(1889)
    x, y = gates(3300, seed=8)
    lab = Lab((x[:3000], y[:3000]), (x[3000:], y[3000:]), batch=128)
    trials = [
        Trial(f"w{w}_d{d}_lr{lr:g}", w, d, lr) for w, d, lr in itertools.product(*SPACE.values())
    ]
    epochs = 1
    while True:
        t0 = time.time()
        for trial in trials:
            lab.run(trial, epochs)
        trials.sort(key=lambda t: t.score)
        print(
            f"{len(trials)} trials x {epochs} epochs in {time.time() - t0:.1f}s; "
            f"leader {trials[0].name} at {trials[0].score:.4f}"
        )
        if len(trials) == 1:
            break
        trials, epochs = trials[: len(trials) // 2], epochs * 2
    print("winner:", trials[0].name, [round(v, 4) for v in trials[0].curve[-5:]])


if __name__ == "__main__":
    main()

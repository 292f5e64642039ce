"""Learns the rise curve of sourdough starters from jar photographs' features.

Keeps an exponential average of the weights (the one that bakes) and a diary.
"""

import json
import os
import tempfile
from dataclasses import dataclass, asdict

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


@dataclass
class Recipe:
    features: int = 48
    hours: int = 12
    jars: int = 6000
    batch: int = 100
    epochs: int = 9
    decay: float = 0.99
    seed: int = 77


class Diary:
    """A page for each update, so that nothing is lost when the oven trips."""

    def __init__(self, folder):
        self.folder = folder
        self.n = 0

    def write(self, loss, kernel, flour):
        page = os.path.join(self.folder, f"page_{self.n:05d}.npz")
        np.savez_compressed(page, loss=loss, kernel=kernel, flour=flour)
        with open(page, "rb") as f:
            os.fsync(f.fileno())
        with open(os.path.join(self.folder, "index.jsonl"), "a") as f:
            f.write(json.dumps({"n": self.n, "loss": loss}) + "\n")
        self.n += 1


class BakingWeights:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.values = [w.copy() for w in model.get_weights()]

    def update(self):
        for mine, new in zip(self.values, self.model.get_weights()):
            mine *= self.decay
            mine += (1 - self.decay) * new

    def put(self, other):
        other.set_weights(self.values)


def jars(recipe, rng):
    x = rng.normal(size=(recipe.jars, recipe.features)).astype("float32")
    speed = 0.3 + 0.2 * np.tanh(x[:, :4].sum(1, keepdims=True))
    peak = 2.0 + np.tanh(x[:, 4:8].sum(1, keepdims=True))
    t = np.arange(recipe.hours)[None]
    y = peak / (1 + np.exp(-speed * (t - 6))) + rng.normal(0, 0.05, (recipe.jars, recipe.hours))
    return x, y.astype("float32")


def network(recipe):
    inp = layers.Input((recipe.features,))
    h = layers.Dense(900, activation="swish")(inp)
    for _ in range(2):
        h = layers.Dense(900, activation="swish")(h)
    return tf.keras.Model(inp, layers.Dense(recipe.hours)(h))


def main():
    recipe = Recipe()
    tf.keras.utils.set_random_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    x, y = jars(recipe, rng)
    cut = recipe.jars * 5 // 6
    ds = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .cache()
        .shuffle(cut, seed=3)
        .batch(recipe.batch)
        .prefetch(2)
    )
    model, baker = network(recipe), network(recipe)
    opt = tf.keras.optimizers.Adam(5e-4)
    opt.build(model.trainable_variables)
    average = BakingWeights(model, recipe.decay)
    diary = Diary(tempfile.mkdtemp(prefix="diary_"))

    @tf.function
    def update(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    print("recipe", asdict(recipe))
    for epoch in range(recipe.epochs):
        losses = []
        for xb, yb in ds:
            losses.append(float(update(xb, yb)))
            average.update()
            diary.write(losses[-1], model.layers[1].kernel.numpy(), xb.numpy())
        average.put(baker)
        err = np.abs(baker(x[cut:]).numpy() - y[cut:]).mean()
        print(f"epoch {epoch}  loss {np.mean(losses):.4f}  baked error {err:.3f}")


if __name__ == "__main__":
    main()

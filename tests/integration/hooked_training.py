"""A training that has every collector hook what it ever hooks.

Needs TensorFlow; `tests/integration` is on the path of the programs of `training_host`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

X = np.linspace(0, 1, 160, dtype=np.float32).reshape(40, 4)
Y = X.sum(1, keepdims=True)


class Batches(keras.utils.PyDataset):
    """Batches that Python makes."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return X[:8], Y[:8]


class Everywhere(keras.callbacks.Callback):
    """Does something in each method: all of Keras's callback list is timed then."""

    def __init__(self, seen: Any = lambda: None) -> None:
        super().__init__()
        self.seen = seen


for _what in ("train", "epoch", "train_batch", "test", "test_batch"):
    for _when in ("begin", "end"):

        def _method(self: Everywhere, *_: Any, **__: Any) -> None:
            self.seen()

        setattr(Everywhere, f"on_{_what}_{_when}", _method)


def train(folder: str, callbacks: list[Any]) -> keras.Model:
    """Fits, evaluates, predicts, saves, writes summaries, and runs a loop of its own."""
    here = Path(folder)
    here.mkdir()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(X, Y, validation_split=0.2, epochs=2, verbose=0, callbacks=callbacks)
    model.fit(Batches(), verbose=0, callbacks=callbacks)
    model.evaluate(X, Y, verbose=0)
    model.predict(X, verbose=0)
    model.save(here / "model.keras")
    model.save_weights(here / "m.weights.h5")
    optimizer = keras.optimizers.SGD(0.01)
    writer = tf.summary.create_file_writer(str(here / "summaries"))
    step = tf.function(lambda x: tf.reduce_mean(tf.square(model(x))))
    with writer.as_default():
        for number, batch in enumerate(tf.data.Dataset.from_tensor_slices(X).batch(8)):
            with tf.GradientTape() as tape:
                loss = step(batch)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            tf.summary.scalar("loss", loss, number)
    tf.train.Checkpoint(model=model).save(str(here / "checkpoint"))
    tf.saved_model.save(tf.Module(), str(here / "saved"))
    return model

"""Says what a program can see of the stack: in errors, warnings, and where it looks itself.

Needs TensorFlow; `tests/integration` is on the path of the programs of `training_host`.
"""

from __future__ import annotations

import inspect
import re
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

X = np.ones((16, 4), np.float32)
stacks: dict[str, list[str]] = {}


def look(where: str) -> None:
    """Keeps the stack of the first call from here, and warns two and three callers above."""
    places = [
        f"{Path(each.filename).name}:{each.lineno} {each.function}" for each in inspect.stack()
    ]
    if where not in stacks:
        stacks[where] = places[1:]
        for level in range(2, 7):
            warnings.warn(f"{where} {level}", stacklevel=level)


class Checked(keras.layers.Layer):
    """Fails where its input is not above a limit."""

    def __init__(self, above: float) -> None:
        super().__init__()
        self.above = above

    def call(self, x: Any) -> Any:
        look("layer")
        tf.debugging.assert_greater(tf.reduce_sum(x), self.above)
        return x

    def get_config(self) -> dict[str, Any]:
        look("get_config")
        return {"above": self.above}


class Batches(keras.utils.PyDataset):
    """Batches that Python makes."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        look("PyDataset")
        return X, X


class Looking(keras.callbacks.Callback):
    """Looks, and fails where it is told to."""

    fails: str | None = None

    def _do(self, name: str) -> None:
        look(name)
        if self.fails == name:
            tf.function(lambda x: tf.gather(x, 9))(tf.zeros(2))


for _name in (
    *("on_train_begin", "on_epoch_begin", "on_train_batch_begin", "on_train_batch_end"),
    *("on_test_batch_end", "on_epoch_end", "on_train_end", "on_predict_batch_end"),
):
    setattr(Looking, _name, lambda self, *_, _name=_name, **__: self._do(_name))


class Own(keras.optimizers.SGD):
    """Looks where its variables are made."""

    def build(self, variables: Any) -> None:
        look("build")
        super().build(variables)

    def add_variable_from_reference(self, *args: Any, **kwargs: Any) -> Any:
        look("slots")
        return super().add_variable_from_reference(*args, **kwargs)


def model(above: float) -> Any:
    """One that fails where `above` is large."""
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4), Checked(above)])
    made.compile(Own(0.01, momentum=0.5), "mse")
    return made


def run(folder: Path, callbacks: Callable[[], list[Any]]) -> list[str]:
    """All that was seen, without numbers that count what was made before."""
    keras.utils.set_random_seed(1)
    keras.config.disable_traceback_filtering()
    told: list[str] = []

    def fails(what: str, act: Callable[[], Any]) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                act()
            except Exception as error:  # noqa: BLE001 - told
                frames = [
                    f"{Path(each.filename).name}:{each.lineno} {each.name}"
                    for each in traceback.extract_tb(error.__traceback__)
                ]
                told.extend([f"{what}: {type(error).__name__}", *frames, *str(error).splitlines()])
        told.extend(f"{Path(each.filename).name}:{each.lineno} {each.message}" for each in caught)

    def fit(above: float, fail: str | None = None) -> None:
        looking = Looking()
        looking.fails = fail
        made = model(above)
        data = {"x": X, "y": X, "validation_split": 0.5} if fail else {"x": Batches()}
        made.fit(**data, verbose=0, callbacks=[looking, *callbacks()])

    @tf.function
    def gathers(x: Any, index: Any) -> Any:
        look("tf.function")
        return tf.gather(x, index)

    @tf.function
    def calls(x: Any, index: Any) -> Any:
        return gathers(x, index) + 1.0

    @tf.function
    def loops(dataset: Any) -> Any:
        total = 0.0
        for x in dataset:
            total += tf.reduce_sum(x)
        return total

    def checked(x: Any) -> Any:
        look("map")
        return tf.gather(x, tf.cast(x[0], tf.int32) + 9)

    data = tf.data.Dataset.from_tensor_slices(X).map(checked)
    two, nine = tf.constant(1), tf.constant(9)
    fails("traced", lambda: gathers(X[0], nine))
    fails("nested", lambda: (gathers(X[1], two), calls(X[1], nine)))
    fails("again", lambda: [gathers(X[1], nine) for _ in range(2)])
    fails("jitted", lambda: tf.function(lambda x: tf.reshape(x, [3]), jit_compile=True)(X[0]))
    fails("fit", lambda: fit(1e9))
    fails("fit2", lambda: fit(-1e9))
    for name in ("on_epoch_end", "on_train_batch_end"):
        fails(name, lambda name=name: fit(-1e9, name))
    fails("evaluate", lambda: model(1e9).evaluate(X, X, verbose=0))
    fails("predict", lambda: model(-1e9).predict(X, verbose=0, callbacks=[Looking()]))
    fails("compile", lambda: model(0).compile("sgd", run_eagerly=True, jit_compile=True))
    fails("save", lambda: model(-1e9).save(folder / "m.keras"))
    fails("save as", lambda: model(-1e9).save(folder / "m.abc"))
    fails("saved_model", lambda: tf.saved_model.save(model(-1e9), str(folder / "saved")))
    fails("checkpoint", lambda: tf.train.Checkpoint(x=1).save("/dev/null/no"))
    fails("iterator", lambda: list(data))
    fails("in a graph", lambda: loops(data))
    fails("decay", lambda: keras.optimizers.Adam(decay=1))
    fails("unknown", lambda: keras.optimizers.Adam(momentum=1))
    fails("summary", lambda: tf.summary.scalar("x", "text", "step"))
    told.extend(f"{where}: {line}" for where, lines in stacks.items() for line in lines)
    return [re.sub(r"_\d+|0x\w+|__autograph_generated_file\w+", "_N", line) for line in told]

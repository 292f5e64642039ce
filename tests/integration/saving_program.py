"""Saves, loads, copies, and exports models of each kind, and says all that came of it.

Needs TensorFlow; `tests/integration` is on the path of the programs of `training_host`.
"""

from __future__ import annotations

import copy
import pickle
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

X = np.linspace(-1, 1, 96, dtype=np.float32).reshape(24, 4)
Y = np.square(X).sum(1, keepdims=True)
KINDS = ("functional", "sequential", "subclassed")


@keras.saving.register_keras_serializable("program")
def rooted(y: Any, predicted: Any) -> Any:
    """A loss of the program's own."""
    return tf.sqrt(tf.reduce_mean(tf.square(y - predicted)) + 1e-3)


@keras.saving.register_keras_serializable("program")
class Scale(keras.layers.Layer):
    """A layer of the program's own."""

    def __init__(self, by: float = 2.0, **others: Any) -> None:
        super().__init__(**others)
        self.by = by

    def call(self, x: Any) -> Any:
        return self.by * x

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "by": self.by}


class _OwnStep:
    """`train_step` as the guides have it."""

    def train_step(self: Any, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=predicted)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        for metric in self.metrics:
            metric.update_state(*((loss,) if metric.name == "loss" else (y, predicted)))
        return self.get_metrics_result()


@keras.saving.register_keras_serializable("program")
class OwnSequential(_OwnStep, keras.Sequential):
    """A sequential model with its own train step."""


@keras.saving.register_keras_serializable("program")
class OwnFunctional(_OwnStep, keras.Model):
    """A functional model with its own train step."""


@keras.saving.register_keras_serializable("program")
class Subclassed(_OwnStep, keras.Model):
    """A subclassed model with its own `compile`, train step, and configuration."""

    def __init__(self, units: int = 3, **others: Any) -> None:
        super().__init__(**others)
        self.units = units
        self.hidden = keras.layers.Dense(units, activation="tanh")
        self.scale = Scale(0.5)
        self.last = keras.layers.Dense(1)

    def compile(self, optimizer: Any = "adam", penalty: float = 0.1, **others: Any) -> None:
        super().compile(optimizer=optimizer, loss=rooted, **others)
        self.penalty = penalty

    def get_compile_config(self) -> dict[str, Any]:
        return {"optimizer": "adam", "penalty": self.penalty}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        self.compile(**config)
        self.optimizer.build(self.trainable_variables)

    def call(self, x: Any) -> Any:
        return self.last(self.scale(self.hidden(x)))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units}


def make(kind: str) -> Any:
    """A model of this kind, compiled and built."""
    keras.utils.set_random_seed(3)
    if kind == "subclassed":
        model = Subclassed()
        model.compile(penalty=0.2)
        model.build((None, 4))
        return model
    if kind == "sequential":
        layers = [keras.Input((4,)), keras.layers.Dense(3, "relu"), Scale(), keras.layers.Dense(1)]
        model = OwnSequential(layers)
    else:
        inputs = keras.Input((4,))
        hidden = keras.layers.BatchNormalization()(keras.layers.Dense(3)(inputs))
        model = OwnFunctional(inputs, keras.layers.Dense(1)(Scale()(hidden)))
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), loss=rooted, metrics=["mae"])
    return model


class Told:
    """What each step of the program did: its result or error, and its warnings."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, what: str, act: Callable[[], Any]) -> Any:
        result = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                result = act()
            except Exception as error:  # noqa: BLE001 - told
                frames = traceback.extract_tb(error.__traceback__)[1:]
                places = [f"{Path(each.filename).name}:{each.lineno}" for each in frames]
                self.lines.append(f"{what}: {type(error).__name__}: {error} {places}")
        for each in caught:
            place = f"{Path(each.filename).name}:{each.lineno}"
            self.lines.append(f"{what}: {each.category.__name__} {place} {each.message}")
        if isinstance(result, str | float | list | dict | tuple | bool):
            self.lines.append(f"{what}: {result!r}")
        return result


def save(folder: Path, callbacks: Callable[[], list[Any]]) -> list[str]:
    """Makes, trains, saves, exports, and copies a model of each kind."""
    told = Told()
    for kind in KINDS:
        _save(
            kind, folder / kind, callbacks, lambda what, act, kind=kind: told(f"{kind} {what}", act)
        )
    _pickle(folder, told)
    return told.lines


def _save(kind: str, here: Path, callbacks: Callable[[], list[Any]], told: Any) -> None:
    here.mkdir(parents=True)
    model = told("make", lambda: make(kind))

    def fit() -> Any:
        history = model.fit(X, Y, 8, 2, 0, callbacks(), validation_data=(X, Y), shuffle=False)
        return _rounded(history.history)

    told("fit", fit)
    for name in ("model.keras", "model.h5"):
        told(name, lambda name=name: model.save(here / name))
        told(f"load {name}", lambda name=name: _evaluated(_loaded(here / name)))
    told("wrong name", lambda: model.save(here / "model.abc"))
    told("weights", lambda: model.save_weights(here / "m.weights.h5"))
    told("load weights", lambda: make(kind).load_weights(here / "m.weights.h5"))
    told("export", lambda: model.export(here / "exported", verbose=False))
    told("saved_model", lambda: tf.saved_model.save(model, str(here / "saved")))
    told("clone", lambda: _clone(model))
    told("config", lambda: repr(model.get_config()))
    told("compile config", lambda: repr(model.get_compile_config()))
    told("from_config", lambda: _state(type(model).from_config(model.get_config())))
    told("json", lambda: keras.models.model_from_json(model.to_json()).to_json())
    told("deepcopy", lambda: _state(copy.deepcopy(model)))
    told("pickle", lambda: (here / "model.pickle").write_bytes(pickle.dumps(model)) > 0)
    told("recompile", lambda: model.compile("sgd", run_eagerly=True, jit_compile=True))


def _clone(model: Any) -> dict[str, Any]:
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    clone.compile("adam", loss=rooted)
    return _state(clone)


def _pickle(folder: Path, told: Told) -> None:
    """Optimizers, layers, callbacks, and functions."""
    best = keras.callbacks.ModelCheckpoint("best.keras", monitor="loss")
    for thing in (keras.layers.Dense(3), keras.layers.LSTM(2), Scale(3.0)):
        name = type(thing).__name__
        told(f"pickle {name}", lambda thing=thing: str(_again(thing).get_config()))
        told(f"copy {name}", lambda thing=thing: str(copy.deepcopy(thing).get_config()))
    for thing in (keras.optimizers.Adam(0.1), keras.optimizers.SGD(0.1, momentum=0.5)):
        thing.build([keras.Variable([1.0, 2.0])])
        name = type(thing).__name__
        told(f"pickle {name}", lambda thing=thing: str(_again(thing).get_config()))
        told(f"copy {name}", lambda thing=thing: str(copy.copy(thing).get_config()))
    told("pickle callback", lambda: str(sorted(vars(_again(best)))))
    functions = (
        keras.Model.save, keras.Model.compile, keras.Model.predict, keras.optimizers.Adam.build,
        tf.saved_model.save, tf.summary.scalar, tf.GradientTape.__exit__, tf.train.Checkpoint.save,
    )  # fmt: skip
    for each in functions:
        told(
            f"pickle {each.__qualname__}",
            lambda each=each: (pickle.dumps(each), _again(each) is each),
        )


def _loaded(file: Path) -> Any:
    classes = {each.__name__: each for each in (OwnFunctional, OwnSequential, Subclassed, Scale)}
    return keras.saving.load_model(file, custom_objects={**classes, "rooted": rooted})


def _again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def load(folder: Path, callbacks: Callable[[], list[Any]]) -> list[str]:
    """Loads all that a `save` has written, maybe in another process, and trains on."""
    told = Told()
    for kind in KINDS:
        here = folder / kind
        for name in ("model.keras", "model.h5"):
            told(f"{kind} {name}", lambda here=here, name=name: _train_on(here / name, callbacks))
        for name in ("exported", "saved"):
            told(f"{kind} {name}", lambda here=here, name=name: _serve(here / name))
        told(
            f"{kind} pickle",
            lambda here=here: _state(pickle.loads((here / "model.pickle").read_bytes())),
        )
    return told.lines


def _train_on(file: Path, callbacks: Callable[[], list[Any]]) -> list[Any]:
    model = _loaded(file)
    history = model.fit(X, Y, 8, 1, 0, callbacks(), shuffle=False)
    return [*_evaluated(model), _rounded(history.history)]


def _serve(folder: Path) -> list[Any]:
    loaded = tf.saved_model.load(str(folder))
    serve = getattr(loaded, "serve", None) or loaded.signatures["serving_default"]
    served = tf.nest.flatten(serve(tf.constant(X)))
    marks = b"".join(file.read_bytes() for file in folder.rglob("*.pb"))
    return [_rounded(served[0].numpy().sum()), b"tb_slowdown" in marks, b"Timestamp" in marks]


def _state(model: Any) -> dict[str, Any]:
    weights = [_rounded(np.abs(each).sum()) for each in model.get_weights()]
    state = {"type": type(model).__name__, "compiled": model.compiled, "weights": weights}
    if model.compiled:
        optimizer = model.optimizer
        state |= {
            "optimizer": (type(optimizer).__name__, int(optimizer.iterations)),
            "variables": len(optimizer.variables),
        }
    return state


def _evaluated(model: Any) -> list[Any]:
    return [_state(model), _rounded(model.evaluate(X, Y, verbose=0, return_dict=True))]


def _rounded(value: Any) -> Any:
    """Figures to four decimals: a bias before a normalization is rounding noise."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(float(value), 4) + 0.0

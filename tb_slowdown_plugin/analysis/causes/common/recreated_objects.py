"""Advice against datasets, iterators and models that are made again and again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    new,
    old,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph
from tb_slowdown_plugin.analysis.report_types.causes import Advice

_FROM_ARRAYS: Final = "data_adapters/array_data_adapter.py"
"""Where Keras makes a dataset of the arrays that `predict` or `fit` are given."""
_ON_DEVICES: Final = "ops/multi_device_iterator_ops.py"
"""Where TensorFlow spreads a dataset over the devices of a strategy."""


@dataclass(frozen=True, slots=True)
class RepeatedSetup:
    """Functions of libraries that were traced again: a dataset, iterator or model is re-created."""

    locations: frozenset[str] = frozenset()
    """Where their code is."""
    in_fit: bool = False
    """Keras runs the loop."""
    distributed_again: bool = False
    """Not only the iterators over the devices of a strategy are made anew, but their dataset."""

    @classmethod
    def of(cls, graphs: Iterable[TracedGraph], *, in_fit: bool = False) -> RepeatedSetup:
        """What traces of library functions say."""
        found = [(graph.row, graph.trace.location) for graph in graphs]
        locations = frozenset(location for _, location in found)
        later = any(row > 0 and _ON_DEVICES not in location for row, location in found)
        return cls(locations, in_fit, later and _includes(_ON_DEVICES, locations))

    @property
    def over_devices(self) -> bool:
        """Nothing but iterators over the devices of a strategy is re-created."""
        return _includes(_ON_DEVICES, self.locations) and not self.distributed_again


def repeated_setup(setup: RepeatedSetup) -> tuple[Advice, ...]:
    """Against datasets, iterators and models that are made anew."""
    return offered(OFFERS, setup)


def _includes(file: str, locations: Iterable[str]) -> bool:
    return any(file in location for location in locations)


def _of_arrays(setup: RepeatedSetup) -> bool:
    """Keras makes a dataset of arrays, in each call."""
    return _includes(_FROM_ARRAYS, setup.locations)


def _on_devices(setup: RepeatedSetup) -> bool:
    """A strategy makes an iterator over the devices, in each epoch."""
    return _includes(_ON_DEVICES, setup.locations) and not _of_arrays(setup)


def _on_devices_in_fit(setup: RepeatedSetup) -> bool:
    return _on_devices(setup) and setup.in_fit


def _on_devices_in_a_loop(setup: RepeatedSetup) -> bool:
    """The loop is the program's own, and distributes the dataset once."""
    return _on_devices(setup) and not setup.in_fit and not setup.distributed_again


def _distributed_in_a_loop(setup: RepeatedSetup) -> bool:
    return _on_devices(setup) and not setup.in_fit and setup.distributed_again


def _by_the_program(setup: RepeatedSetup) -> bool:
    return not _of_arrays(setup) and not _on_devices(setup)


def instead_of(call: str) -> tuple[Advice, ...]:
    """Against a call of Keras on a few examples.

    Args:
      call: "predict", say.
    """
    return offered(OFFERS_FOR_CALLS, call)


def _is_predict(call: str) -> bool:
    return call == "predict"


def _is_fit(call: str) -> bool:
    return call == "fit"


def _is_evaluate(call: str) -> bool:
    return call == "evaluate"


def _is_load(call: str) -> bool:
    return call == "load_model"


def predict_on_batch() -> Advice:
    """Advises `predict_on_batch`, which creates no dataset and returns NumPy arrays."""
    return Advice(
        "Or use `predict_on_batch`, which creates no dataset and returns NumPy arrays, like "
        "`predict`.",
        snippet(old("y = model.predict(x)"), new("y = model.predict_on_batch(x)")),
        "`x` is one batch: it must fit into memory. No callbacks, no progress bar.",
        "find `predict` in the loop",
    )


def call_the_model() -> Advice:
    """Advises calling the model, which creates no dataset and returns tensors."""
    return Advice(
        "Call `model(x, training=False)` instead of `predict` on small inputs in a loop: `predict` "
        "creates a dataset in each call.",
        snippet(old("y = model.predict(x)"), new("y = model(x, training=False)")),
        "No batching: `x` must fit into memory.",
        "find `predict` in the loop",
    )


def load_weights() -> Advice:
    """Advises loading a model once, and later only its weights."""
    return Advice(
        "Load the model once, before the loop. If the file changes, load only its weights. "
        "Loading a model re-creates its layers, and its functions are retraced.",
        snippet(
            new("model = tf.keras.models.load_model(path)"),
            same("for epoch in range(epochs):"),
            old("    model = tf.keras.models.load_model(path)"),
            new("    model.load_weights(weights_path)"),
            same("    train_one_epoch(model)"),
        ),
        "The layers stay those of the first file. Use `save_weights` to write the weights.",
        "find `load_model` in the loop",
    )


def train_on_batch() -> Advice:
    """Advises `train_on_batch`, which creates no dataset, instead of `fit` on one batch."""
    return Advice(
        "Call `train_on_batch` instead of `fit` for one batch at a time: `fit` creates a "
        "dataset in each call.",
        snippet(
            old("model.fit(x, y, epochs=1, verbose=0)"),
            new("model.train_on_batch(x, y)"),
        ),
        "`x` is one batch: it must fit into memory. No callbacks, and metrics accumulate "
        "until `model.reset_metrics()`.",
        "find `fit` in the loop",
    )


def repeat_in_fit() -> Advice:
    """Advises one iterator for all epochs of a `fit` under a strategy."""
    return Advice(
        "Repeat inside the pipeline, and pass `steps_per_epoch` to `fit`: under a distribution "
        "strategy, each epoch creates a new iterator over the devices, and its functions are "
        "retraced.",
        snippet(
            old("model.fit(ds, epochs=epochs)"),
            new("model.fit(ds.repeat(), epochs=epochs, steps_per_epoch=len(ds))"),
        ),
        "Examples mix across epoch boundaries.",
        "where `fit` is called",
    )


def iterate_once() -> Advice:
    """Advises one iterator for all epochs of a loop over a distributed dataset."""
    return Advice(
        "Repeat inside the pipeline, and create one iterator before the loop over epochs: each "
        "epoch of a distributed dataset creates a new iterator over the devices, and its "
        "functions are retraced.",
        snippet(
            old("distributed = strategy.experimental_distribute_dataset(ds)"),
            new("distributed = strategy.experimental_distribute_dataset(ds.repeat())"),
            new("iterator, steps = iter(distributed), len(ds)"),
            same("for epoch in range(epochs):"),
            old("    for batch in distributed:", "        train_step(batch)"),
            new("    for _ in range(steps):", "        train_step(next(iterator))"),
        ),
        "Examples mix across epoch boundaries, if the dataset repeats before it is batched.",
        "find the loop over epochs",
    )


def distribute_once() -> Advice:
    """Advises distributing a dataset once, before the loop over epochs."""
    return Advice(
        "Distribute the dataset once, before the loop over epochs: each distributed dataset is "
        "re-created, with functions that are retraced.",
        snippet(
            new("distributed = strategy.experimental_distribute_dataset(ds)"),
            same("for epoch in range(epochs):"),
            old("    distributed = strategy.experimental_distribute_dataset(ds)"),
            same("    for batch in distributed:", "        train_step(batch)"),
        ),
        "Random choices that Python makes while it creates the dataset are made only once.",
        "find `experimental_distribute_dataset` in the loop",
    )


def hand_over_a_dataset() -> Advice:
    """Advises passing `fit` and `evaluate` a dataset instead of arrays."""
    return Advice(
        "Pass `fit` and `evaluate` a dataset that is created once: from arrays, Keras creates a "
        "new one in each call and retraces its functions.",
        snippet(
            new("data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)"),
            same("for epoch in range(epochs):"),
            old("    model.evaluate(x, y, verbose=0)"),
            new("    model.evaluate(data, verbose=0)"),
        ),
        "`fit` no longer shuffles: call `shuffle` on the dataset.",
        "find `fit` or `evaluate` in the loop",
    )


def make_once() -> Advice:
    """Advises creating a dataset once, outside the loop."""
    return Advice(
        "Create the dataset once, outside the loop: each new one retraces its functions.",
        snippet(
            new("ds = tf.data.Dataset.from_tensor_slices(x).map(scale).batch(64)"),
            same("for epoch in range(epochs):"),
            old("    ds = tf.data.Dataset.from_tensor_slices(x).map(scale).batch(64)"),
            same("    for batch in ds:", "        train_step(batch)"),
        ),
        "Random choices that Python makes while it creates the dataset are made only once.",
        "find where the dataset is created in the loop",
    )


OFFERS: Final = (
    Offer(plain(hand_over_a_dataset), when=_of_arrays),
    Offer(plain(call_the_model), when=_of_arrays),
    Offer(plain(train_on_batch), when=_of_arrays),
    Offer(plain(repeat_in_fit), when=_on_devices_in_fit),
    Offer(plain(distribute_once), when=_distributed_in_a_loop),
    Offer(plain(iterate_once), when=_on_devices_in_a_loop),
    Offer(plain(make_once), when=_by_the_program),
)
OFFERS_FOR_CALLS: Final = (
    Offer(plain(call_the_model), when=_is_predict),
    Offer(plain(predict_on_batch), when=_is_predict),
    Offer(plain(train_on_batch), when=_is_fit),
    Offer(plain(hand_over_a_dataset), when=_is_evaluate),
    Offer(plain(load_weights), when=_is_load),
)

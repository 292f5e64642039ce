"""The batch shapes of what Keras turns into a `tf.data` dataset by itself: arrays and PyDatasets.

Those batches are fetched inside a graph, where no Python sees them; but Keras makes
them in Python. Its adapters are private, so what is known of them is all in this file.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks

_ADAPTERS: Final = "keras.src.trainers.data_adapters."


class KerasBatches:
    """Tells of each batch of a `PyDataset`, and of both sizes of batches that arrays give.

    Where Keras has no such adapters, or was not imported yet, nothing is told.

    Args:
      batch: Is given each batch; in any thread.
      size: Is given what has the shapes of batches to come.
      workers: Is given how many threads or processes make the batches of a `PyDataset`.
    """

    def __init__(
        self,
        batch: Callable[[Any], None],
        size: Callable[[Any], None],
        workers: Callable[[int], None],
    ) -> None:
        self._tell_batch = batch
        self._tell_size = size
        self._tell_workers = workers
        self._hooks = MethodHooks("batch_shapes")

    def start(self) -> None:
        """Hooks into Keras's adapters."""
        for module, adapter, method, wrap in (
            ("py_dataset_adapter", "PyDatasetAdapter", "_standardize_batch", self._batches),
            ("array_data_adapter", "ArrayDataAdapter", "get_tf_dataset", self._arrays),
        ):
            owner = _find(module, adapter)
            if hasattr(owner, method):
                self._hooks.replace(owner, method, wrap)

    def stop(self) -> None:
        """Gives Keras its methods back."""
        self._hooks.remove()

    def _batches(self, standardize: Method) -> Method:
        def call(adapter: Any, batch: Any) -> Any:
            self._tell_batch(batch)
            with contextlib.suppress(Exception):  # an adapter of another make
                self._tell_workers(int(adapter.py_dataset.workers))
            return standardize(adapter, batch)

        return call

    def _arrays(self, make: Method) -> Method:
        def call(adapter: Any, *args: Any, **kwargs: Any) -> Any:
            dataset = make(adapter, *args, **kwargs)
            with contextlib.suppress(Exception):  # an adapter of another make
                for items in (adapter.batch_size, adapter.partial_batch_size):
                    if items:
                        self._tell_size(_sized(dataset.element_spec, int(items)))
            return dataset

        return call


class _Shaped:
    """What a batch looks like that has not been made yet."""

    def __init__(self, shape: tuple[int | None, ...]) -> None:
        self.shape = shape


def _sized(spec: Any, items: int) -> list[_Shaped]:
    """The tensors of a batch of `items`, by the specification that leaves their number open."""
    import tensorflow as tf

    return [_Shaped((items, *each.shape[1:])) for each in tf.nest.flatten(spec)]


def _find(module: str, adapter: str) -> Any:
    if "keras" not in sys.modules:
        return None
    try:
        return getattr(importlib.import_module(_ADAPTERS + module), adapter, None)
    except ImportError:
        return None

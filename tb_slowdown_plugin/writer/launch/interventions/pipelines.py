"""Interventions in `tf.data` pipelines: each is made where an iterator of the dataset is made."""

from __future__ import annotations

import weakref
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention

_MAX_REPLAYED: Final = 16
"""Batches that are replayed: they are all in memory before the warm-up of a trial ends."""
_REPLAYED_SHARE: Final = 0.1
_UNTOUCHED: Final = "no Python code iterates over a tf.data dataset"


class _PipelineChange(Intervention):
    untouched = _UNTOUCHED

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self._changed: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Hooks the iterator of Python loops and of Keras."""
        from tensorflow.python.data.ops import iterator_ops

        self.hooks.replace(iterator_ops.OwnedIterator, "_create_iterator", self._around)

    def change(self, dataset: Any) -> Any:
        """The dataset that takes the place of one; the same where there is nothing to change."""
        raise NotImplementedError

    def _around(self, original: Method) -> Method:
        from tensorflow.python.eager import context

        def create(iterator: Any, dataset: Any) -> Any:
            if not context.executing_eagerly():
                return original(iterator, dataset)
            changed = self._changed.get(dataset)
            if changed is None:
                changed = self._changed[dataset] = self.change(dataset)
                self.applied += changed is not dataset
            return original(iterator, changed)

        return create


class InputFree(_PipelineChange):
    """Each pass has as many batches as before, all from memory."""

    def change(self, dataset: Any) -> Any:
        """The first batches, again and again."""
        replayed = max(2, min(_MAX_REPLAYED, int(self.steps * _REPLAYED_SHARE)))
        batches = int(dataset.cardinality())
        if batches == 0:
            return dataset
        # A pass of unknown length must end: its length may bound an evaluation.
        length = self.steps if batches < -1 else batches
        return dataset.take(replayed).cache().repeat().take(length)


class Prefetch(_PipelineChange):
    """Prepares batches while the step before trains."""

    untouched = "each tf.data pipeline of the program ends with prefetch already"

    def change(self, dataset: Any) -> Any:
        """With `prefetch` at its end."""
        import tensorflow as tf

        last = dataset
        while "Options" in type(last).__name__ and hasattr(last, "_input_dataset"):
            last = last._input_dataset
        if "Prefetch" in type(last).__name__:
            return dataset
        return dataset.prefetch(tf.data.AUTOTUNE)


class AutotuneOff(_PipelineChange):
    """The numbers in the program stay as they are; AUTOTUNE means the initial values."""

    def change(self, dataset: Any) -> Any:
        """Without autotuning."""
        import tensorflow as tf

        options = tf.data.Options()
        options.autotune.enabled = False
        return dataset.with_options(options)

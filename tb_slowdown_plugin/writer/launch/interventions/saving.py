"""Interventions in what training writes: summaries and checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tb_slowdown_plugin.collectors.base import loaded_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention


class NoSummaries(Intervention):
    """`tf.summary.scalar` and its like, in eager code and in graphs, write nothing."""

    untouched = "the program writes no summary with tf.summary"

    def install(self) -> None:
        """Hooks what all of them call."""
        from tensorflow.python.ops import summary_ops_v2

        self.hooks.replace(summary_ops_v2, "write", self._around)

    def _around(self, original: Method) -> Method:  # noqa: ARG002 - it isn't called
        import tensorflow as tf

        def write(*_: Any, **__: Any) -> Any:
            self.applied += 1
            return tf.constant(False)

        return write


class NoCheckpoints(Intervention):
    """A save returns at once, with the path that it was given."""

    untouched = "the program saves no checkpoint in the steps that were run"

    def install(self) -> None:
        """Hooks the methods that save."""
        import tensorflow as tf

        for owner in (tf.train.Checkpoint, tf.train.CheckpointManager, tf.compat.v1.train.Saver):
            self.hooks.replace(owner, "save", self._skip)
        self.hooks.replace(tf.train.Checkpoint, "write", self._skip)
        keras = loaded_keras()
        if keras is not None:
            self.hooks.replace(keras.Model, "save", self._skip)
            self.hooks.replace(keras.Model, "save_weights", self._skip)

    def _skip(self, original: Method) -> Callable[..., Any]:  # noqa: ARG002 - it isn't called
        def save(_: Any, *args: Any, **__: Any) -> Any:
            self.applied += 1
            return next((each for each in args if isinstance(each, str)), None)

        return save

"""Refuses what TensorFlow and Keras would write by a path that is guarded: see `write_guard`.

Their C++ code announces no file to Python, so the Python functions that pass the path on are
hooked.
"""

from __future__ import annotations

import inspect
from typing import Any

from tb_slowdown_plugin.collectors.base import loaded_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.writer.launch.write_guard import WriteGuard


def guard_writes(guard: WriteGuard) -> MethodHooks:
    """Refuses from now on; TensorFlow is imported."""
    from tensorflow.python.checkpoint import checkpoint
    from tensorflow.python.lib.io import file_io
    from tensorflow.python.ops import summary_ops_v2
    from tensorflow.python.training import saver

    hooks = MethodHooks("tbslow try")
    for owner, name, argument in (
        (checkpoint.TrackableSaver, "save", "file_prefix"),
        (file_io, "copy_v2", "dst"),
        (file_io, "delete_file_v2", "path"),
        (file_io, "delete_recursively_v2", "path"),
        (file_io, "rename_v2", "src"),
        (saver.Saver, "save", "save_path"),
        (summary_ops_v2, "create_file_writer_v2", "logdir"),
    ):
        hooks.replace(owner, name, _checked(guard, argument))
    hooks.replace(file_io.FileIO, "_prewrite_check", _checked_file(guard))
    keras = loaded_keras()
    if keras is not None:
        for name in ("save", "save_weights"):
            hooks.replace(keras.Model, name, _checked(guard, "filepath"))
    return hooks


def _checked(guard: WriteGuard, argument: str) -> Any:
    def around(original: Method) -> Method:
        parameters = inspect.signature(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = parameters.bind_partial(*args, **kwargs).arguments
            guard.check(given.get(argument))
            return original(*args, **kwargs)

        return call

    return around


def _checked_file(guard: WriteGuard) -> Any:
    def around(original: Method) -> Method:
        def check(file: Any) -> Any:
            guard.check(file.name)
            return original(file)

        return check

    return around

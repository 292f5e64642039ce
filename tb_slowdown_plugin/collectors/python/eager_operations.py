"""Whether a line of the program runs TensorFlow operations one by one: no graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Final

import numpy as np

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed, package_of

_NO_OPERATIONS: Final = (
    "/checkpoint/",
    "/client/",
    "/data/",
    "/ops/summary_ops",
    "/polymorphic_function/",
    "/saved_model/",
    "/saving/",
    "/summary/",
)
"""Parts of TensorFlow and Keras that run graphs, load, save, or write."""
_OTHER_FILES: Final = (
    *_NO_OPERATIONS,
    "/distribute/",
    "/eager/backprop.py",
    "/optimizers/",
    "/tensorflow/trainer.py",
    "/trainers/",
    "/training/",
)
"""And those that train: Keras updates each variable by way of `tf.distribute`."""
_WRAPPER: Final = "traceback_utils.py"
"""What TensorFlow and Keras put around their functions, to shorten tracebacks."""
_GRAPHS: Final = ("/client/", "/eager/backprop.py", "/polymorphic_function/")
_LOOKS_AT_EACH: Final = "_should_not_autopack"
"""With what TensorFlow looks for tensors among the elements of a list that becomes one."""
_GIVEN: Final = ("/framework/constant_op.py", "/ops/gen_array_ops.py")
"""Where values of Python go over to TensorFlow's C++."""
_LARGE_BYTES: Final = 1 << 22
"""Copying it takes 0.4 ms."""
_CALLS_OF_LAYERS: Final = ("/layers/layer.py", "/ops/operation.py", "/engine/base_layer.py")
"""Where Keras 3 and 2 call a layer or a model, whose own `call` may be the program's."""
_PACKAGES: Final = frozenset({"keras", "tensorflow", "tf_keras"})
_OTHER_FUNCTIONS: Final = frozenset({"__array__", "_numpy", "constant", "numpy"})
"""What copies arrays, and waits for a device."""


def converts_list(innermost: FrameType) -> bool:
    """Whether the program has TensorFlow make a tensor of a list, and it looks at each element.

    So do `tf.convert_to_tensor` and operations that are given a list: 11 ms for 120,000 numbers.
    `tf.constant` doesn't, and takes 0.4 ms. What a model converts doesn't count: the program has
    started the model.
    """
    libraries = list(_libraries(innermost))
    is_tensorflow = all(package_of(frame) == "tensorflow" for frame in libraries)
    return is_tensorflow and any(frame.f_code.co_name == _LOOKS_AT_EACH for frame in libraries)


def is_given_array(innermost: FrameType) -> bool:
    """Whether TensorFlow has a large array of NumPy in hand, to make a tensor of it.

    Only in functions that do little else, such as those that take some of its rows.
    """
    file = innermost.f_code.co_filename.replace("\\", "/")
    if not file.endswith(_GIVEN) or not is_installed(file):
        return False
    return any(
        isinstance(value, np.ndarray) and value.nbytes >= _LARGE_BYTES
        for value in innermost.f_locals.values()
    )


def runs_no_graph(innermost: FrameType) -> bool:
    """Whether the program has called TensorFlow, or a model of Keras, outside of a graph."""
    libraries = list(_libraries(innermost))
    return any(package_of(each) in _PACKAGES for each in libraries) and _computes(libraries)


def trains_eagerly(innermost: FrameType) -> bool:
    """Whether the program has called a gradient, or an update of variables, outside of a graph."""
    libraries = list(_libraries(innermost))
    is_library = any(package_of(each) in _PACKAGES for each in libraries)
    return is_library and _computes(libraries, _NO_OPERATIONS)


def runs_graph(innermost: FrameType) -> bool:
    """Whether the program has called a `tf.function`, a session, or a gradient."""
    return any(
        part in frame.f_code.co_filename.replace("\\", "/")
        for frame in _libraries(innermost)
        for part in _GRAPHS
    )


def caller_of_model(stack: Iterable[FrameType]) -> FrameType | None:
    """The program's frame that called the model, or the layer, in whose own code it is now.

    That is what could be a `tf.function`, or could call the model less often.

    Args:
      stack: Frames, innermost first.

    Returns:
      The program's innermost frame where no model was called; None without one.
    """
    found = None
    is_called = True
    for frame in stack:
        if not is_installed(frame.f_code.co_filename):
            if not is_called:
                break
            found, is_called = frame, False
        else:
            is_called |= _calls_layer(frame)
    return found


def _calls_layer(frame: FrameType) -> bool:
    file = frame.f_code.co_filename.replace("\\", "/")
    return frame.f_code.co_name == "__call__" and file.endswith(_CALLS_OF_LAYERS)


def _libraries(innermost: FrameType) -> Iterator[FrameType]:
    """The frames above the program's innermost one, without what only calls another.

    At the beginning of that nobody knows yet what is called: beside other work, 3 to 11% of the
    samples of a `predict`.
    """
    frame: FrameType | None = innermost
    while frame is not None and is_installed(frame.f_code.co_filename):
        if not frame.f_code.co_filename.endswith(_WRAPPER):
            yield frame
        frame = frame.f_back


def _computes(libraries: list[FrameType], others: Sequence[str] = _OTHER_FILES) -> bool:
    return bool(libraries) and not any(
        frame.f_code.co_name in _OTHER_FUNCTIONS
        or any(part in frame.f_code.co_filename.replace("\\", "/") for part in others)
        for frame in libraries
    )

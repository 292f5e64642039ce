"""Layers that Keras calls once for each step of a sequence, one after the other.

Such as `TimeDistributed(Dense(48))`: of a batch whose sequences are of one length it takes slices,
calls the layer for each, and stacks what these calls give. A `Dense` gives the same of the whole
sequence: a step with three of them on 96 steps takes 16.6 ms, and 5.1 without `TimeDistributed`;
its trace takes 3.9 s instead of 0.6 (TensorFlow 2.21, Keras 3.15, 2026-11-30).
"""

from __future__ import annotations

from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed

_WRAPPER: Final = ("rnn/time_distributed.py", "rnn\\time_distributed.py")


def is_wrapped(operation: Any) -> bool:
    """Whether such a layer made an operation."""
    return any(
        frame.filename.endswith(_WRAPPER) and is_installed(frame.filename)
        for frame in operation.traceback or ()
    )

"""How a `fit` of Keras was set up, as far as advice depends on it.

Cost: 10 us a `fit`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from tb_slowdown_plugin.catalog.events import HALF_PRECISION, KERAS_FIT, TENSORBOARD_CALLBACK
from tb_slowdown_plugin.records.types import Fact


def describe_fit(model: Any, callbacks: Iterable[Any]) -> Iterator[Fact]:
    """What is on already; attributes that Keras keeps elsewhere one day are not told.

    Args:
      model: The model that is trained.
      callbacks: The callbacks of the `fit`.
    """
    with contextlib.suppress(Exception):
        steps = int(getattr(model, "steps_per_execution", 1) or 1)
        yield Fact(KERAS_FIT, "", {"steps_per_execution": float(steps)})
    if is_half(getattr(model, "dtype_policy", None)):
        yield Fact(HALF_PRECISION, "", {})
    for callback in callbacks:
        if any(each.__name__ == "TensorBoard" for each in type(callback).__mro__):
            with contextlib.suppress(Exception):
                yield Fact(TENSORBOARD_CALLBACK, "", _options_of(callback))


def is_half(policy: Any) -> bool:
    """Whether a policy of Keras computes in half precision."""
    return getattr(policy, "compute_dtype", None) in ("float16", "bfloat16")


def _options_of(board: Any) -> dict[str, float]:
    return {
        "histograms": float(board.histogram_freq > 0),
        "batches": float(board.update_freq != "epoch"),
        "profiles": float(bool(board._should_trace)),
    }

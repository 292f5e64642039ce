"""How a `fit` of Keras was set up, as far as advice depends on it.

Cost: 10 us a `fit`, and 20 us for each of its callbacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from tb_slowdown_plugin.catalog.events import (
    CALLBACK_AT,
    CALLBACK_MADE_AT,
    HALF_PRECISION,
    KERAS_FIT,
    SLOW_SETTING,
    TENSORBOARD_CALLBACK,
)
from tb_slowdown_plugin.catalog.slow_settings import KERAS_EAGER
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.keras.callback_lines import line_of
from tb_slowdown_plugin.collectors.keras.callbacks import METHODS, account_of
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
    if getattr(model, "run_eagerly", False) is True:
        yield Fact(SLOW_SETTING, KERAS_EAGER, {"on": 1.0})
    if is_half(getattr(model, "dtype_policy", None)):
        yield Fact(HALF_PRECISION, "", {})
    for callback in callbacks:
        if any(each.__name__ == "TensorBoard" for each in type(callback).__mro__):
            with contextlib.suppress(Exception):
                yield Fact(TENSORBOARD_CALLBACK, "", _options_of(callback))
        with contextlib.suppress(Exception):
            yield from _places_of(callback)


def _places_of(callback: Any) -> Iterator[Fact]:
    places = SourcePlaces.of_process()
    account, line = account_of(type(callback)), line_of(callback)
    if line:
        yield Fact(CALLBACK_MADE_AT, f"{account} {line}", {})
    for name in METHODS:
        code = getattr(getattr(callback, name, None), "__code__", None)
        if code is not None and not is_installed(code.co_filename):
            place = places.in_code(code, code.co_firstlineno)
            yield Fact(CALLBACK_AT, f"{account} {place}", {})


def is_half(policy: Any) -> bool:
    """Whether a policy of Keras computes in half precision."""
    return getattr(policy, "compute_dtype", None) in ("float16", "bfloat16")


def _options_of(board: Any) -> dict[str, float]:
    return {
        "histograms": float(board.histogram_freq > 0),
        "batches": float(board.update_freq != "epoch"),
        "profiles": float(bool(board._should_trace)),
    }

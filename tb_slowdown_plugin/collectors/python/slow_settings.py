"""Settings for debugging that make each step slower, such as checks of each operation.

Cost: 4 us a sample in the training thread.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog import slow_settings
from tb_slowdown_plugin.catalog.events import SLOW_SETTING
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.records.types import Fact

_CALLBACKS: Final = {
    "tensorflow.python.debug.lib.check_numerics_callback": slow_settings.CHECK_NUMERICS,
    "tensorflow.python.debug.lib.dumping_callback": slow_settings.DUMPS,
}
"""Module of what TensorFlow calls for each operation -> the setting."""

_LOGS: Final = (
    "TF_CPP_MAX_VLOG_LEVEL",
    "TF_CPP_VMODULE",
    "ONEDNN_VERBOSE",
    "DNNL_VERBOSE",
    "MKLDNN_VERBOSE",
)
_OFF: Final = ("", "0", "none")

_TRACERS: Final = (0, 1)
_PROFILER: Final = 2
"""Tools of `sys.monitoring` (Python 3.12): debugger, coverage, profiler."""


class SlowSettings:
    """Tells which of them are on: at first, and when that changes.

    Args:
      environment: Of the process.
    """

    name = "slow_settings"

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment

    def start(self, context: Context) -> None:
        """Keeps what it asks; nothing is hooked."""
        self._emit = context.emit
        self._told: frozenset[str] | None = None
        self._always = frozenset(_of_environment(self._environment))
        self._debug_mode = sys.modules.get("tensorflow.python.data.ops.debug_mode")
        self._run_eagerly = _find_run_eagerly()

    def read_in_thread(self) -> Mapping[str, float]:
        """No values; functions that trace or profile are those of the calling thread."""
        found = self._always.union(self._of_process(), _of_thread())
        before = {"before": 1.0} if self._told is None else {}
        for setting in found.symmetric_difference(self._told or ()):
            self._emit(Fact(SLOW_SETTING, setting, {"on": float(setting in found)} | before))
        self._told = found
        return {}

    def read(self) -> Mapping[str, float]:
        """Nothing: only the training thread sees all of them."""
        return {}

    def stop(self) -> None:
        """Nothing was changed."""

    def _of_process(self) -> Iterator[str]:
        tracemalloc = sys.modules.get("tracemalloc")
        if tracemalloc is not None and tracemalloc.is_tracing():
            yield slow_settings.TRACEMALLOC
        if self._run_eagerly():
            yield slow_settings.EAGER_FUNCTIONS
        if getattr(self._debug_mode, "DEBUG_MODE", False):
            yield slow_settings.EAGER_DATA


def _of_thread() -> Iterator[str]:
    tools = _monitoring_tools()
    if sys.gettrace() is not None or any(tools(tool) for tool in _TRACERS):
        yield slow_settings.TRACE_FUNCTION
    if sys.getprofile() is not None or tools(_PROFILER):
        yield slow_settings.PROFILE_FUNCTION
    for callback in _operation_callbacks():
        setting = _CALLBACKS.get(getattr(callback, "__module__", ""))
        if setting is not None:
            yield setting


def _monitoring_tools() -> Callable[[int], Any]:
    monitoring = getattr(sys, "monitoring", None)
    return (lambda _: None) if monitoring is None else monitoring.get_tool


def _operation_callbacks() -> tuple[Any, ...]:
    """What TensorFlow calls for each operation of this thread; private, so maybe nothing."""
    module = sys.modules.get("tensorflow.python.eager.context")
    try:
        return tuple(module.context().op_callbacks) if module is not None else ()
    except (AttributeError, TypeError):
        return ()


def _find_run_eagerly() -> Callable[[], bool]:
    config = getattr(sys.modules.get("tensorflow"), "config", None)
    return getattr(config, "functions_run_eagerly", None) or (lambda: False)


def _of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    if any(environment.get(name, "").lower() not in _OFF for name in _LOGS):
        yield slow_settings.VERBOSE_LOGS
    if environment.get("CUDA_LAUNCH_BLOCKING", "") == "1":
        yield slow_settings.LAUNCH_BLOCKING

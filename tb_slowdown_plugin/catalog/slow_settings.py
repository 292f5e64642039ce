"""Settings that make each step slower, from the step on at which they are switched on.

No clock shows what they take, as no step is without. So they are told, with what they took where
it was measured (`benchmarks/slow_settings.py`), and `tbslow try` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SlowSetting:
    """One setting."""

    id: str
    """Contract: the subject of the fact `slow_setting`."""
    name: str
    """As the program, or its user, switches it on."""
    does: str
    """What is done for it, beginning with a verb: "checks ..."."""
    leave: str
    """How to do without, or with less of it."""


CHECK_NUMERICS: Final = "check_numerics"
DUMPS: Final = "dump_debug_info"
EAGER_FUNCTIONS: Final = "functions_run_eagerly"
KERAS_EAGER: Final = "keras_run_eagerly"
EAGER_DATA: Final = "data_debug_mode"
TRACEMALLOC: Final = "tracemalloc"
TRACE_FUNCTION: Final = "trace_function"
PROFILE_FUNCTION: Final = "profile_function"
VERBOSE_LOGS: Final = "verbose_logs"
LAUNCH_BLOCKING: Final = "launch_blocking"

_SETTINGS: Final = (
    SlowSetting(
        CHECK_NUMERICS,
        "tf.debugging.enable_check_numerics()",
        "looks through what each operation gives for NaN and infinity",
        "Switch it on only to find where a NaN comes from. `tf.debugging.check_numerics(loss, "
        '"loss")` looks at one tensor.',
    ),
    SlowSetting(
        DUMPS,
        "tf.debugging.experimental.enable_dump_debug_info()",
        "writes about each operation into files",
        "Switch it on only for the steps that you look at in the debugger.",
    ),
    SlowSetting(
        EAGER_FUNCTIONS,
        "tf.config.run_functions_eagerly(True)",
        "runs each `tf.function` operation by operation",
        "Switch it off when the function is debugged.",
    ),
    SlowSetting(
        KERAS_EAGER,
        "run_eagerly=True",
        "runs the step of `fit` operation by operation",
        "Leave it out of `compile` when the step is debugged.",
    ),
    SlowSetting(
        EAGER_DATA,
        "tf.data.experimental.enable_debug_mode()",
        "runs the functions of the input pipeline one by one in Python",
        "Switch it off when the pipeline is debugged.",
    ),
    SlowSetting(
        TRACEMALLOC,
        "tracemalloc",
        "notes the line of each piece of memory that Python takes",
        "Call `tracemalloc.stop()` when the leak is found, and leave out `PYTHONTRACEMALLOC`.",
    ),
    SlowSetting(
        TRACE_FUNCTION,
        "sys.settrace",
        "calls a function for each line of Python, as debuggers and coverage do",
        "Run the program without the debugger, or without measuring coverage.",
    ),
    SlowSetting(
        PROFILE_FUNCTION,
        "sys.setprofile",
        "calls a function at each call in Python, as `cProfile` does",
        "Profile a few steps, and switch the profiler off after them.",
    ),
    SlowSetting(
        VERBOSE_LOGS,
        "TF_CPP_MAX_VLOG_LEVEL, TF_CPP_VMODULE, or ONEDNN_VERBOSE",
        "writes a line of log about each operation",
        "Leave the variable out of the environment.",
    ),
    SlowSetting(
        LAUNCH_BLOCKING,
        "CUDA_LAUNCH_BLOCKING=1",
        "waits for each kernel of the GPU before the next is started",
        "Leave the variable out of the environment when the kernel is debugged.",
    ),
)

SLOW_SETTINGS: Final = {setting.id: setting for setting in _SETTINGS}
"""By id."""

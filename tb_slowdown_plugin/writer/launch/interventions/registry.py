"""The intervention of each experiment, by its name in `catalog/experiments.py`."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.writer.launch.interventions.allocators import FastAllocator
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.interventions.debugging import DebuggingOff
from tb_slowdown_plugin.writer.launch.interventions.functions import (
    ReduceRetracing,
    TensorArguments,
    Xla,
)
from tb_slowdown_plugin.writer.launch.interventions.keras_models import (
    MixedPrecision,
    NoCallbacks,
    StepsPerExecution,
)
from tb_slowdown_plugin.writer.launch.interventions.pipelines import (
    AutotuneOff,
    InputFree,
    Prefetch,
)
from tb_slowdown_plugin.writer.launch.interventions.process import GcFrozen, Threads
from tb_slowdown_plugin.writer.launch.interventions.saving import NoCheckpoints, NoSummaries

INTERVENTIONS: Final[dict[str, type[Intervention]]] = {
    "allocator": FastAllocator,
    "autotune_off": AutotuneOff,
    "debugging_off": DebuggingOff,
    "gc_frozen": GcFrozen,
    "input_free": InputFree,
    "mixed_precision": MixedPrecision,
    "no_callbacks": NoCallbacks,
    "no_checkpoints": NoCheckpoints,
    "no_summaries": NoSummaries,
    "prefetch": Prefetch,
    "reduce_retracing": ReduceRetracing,
    "steps_per_execution": StepsPerExecution,
    "tensor_arguments": TensorArguments,
    "threads": Threads,
    "xla": Xla,
}

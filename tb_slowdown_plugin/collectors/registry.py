"""The collectors that a monitor runs unless it is told otherwise."""

from __future__ import annotations

from tb_slowdown_plugin.collectors.base import Collector


def create() -> list[Collector]:
    """A new collector of each family.

    Nothing is hooked or read before `start`, and TensorFlow is not imported.

    Example:
      >>> {"gc", "input_wait"} <= {collector.name for collector in create()}
      True
    """
    from tb_slowdown_plugin.collectors.distributed import Communication
    from tb_slowdown_plugin.collectors.input.batch_shapes import BatchShapes
    from tb_slowdown_plugin.collectors.input.stages import InputStages
    from tb_slowdown_plugin.collectors.input.wait import InputWait
    from tb_slowdown_plugin.collectors.keras.model_calls import (
        Evaluations,
        PredictCalls,
    )
    from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
    from tb_slowdown_plugin.collectors.memory.allocator import Allocator
    from tb_slowdown_plugin.collectors.memory.live_tensors import LiveTensors
    from tb_slowdown_plugin.collectors.memory.tapes import Tapes
    from tb_slowdown_plugin.collectors.python.garbage import GarbageCollector
    from tb_slowdown_plugin.collectors.python.stacks import PythonStacks
    from tb_slowdown_plugin.collectors.saving.disk import (
        DiskIo,
        OutputFiles,
    )
    from tb_slowdown_plugin.collectors.saving.profiler_captures import Captures
    from tb_slowdown_plugin.collectors.saving.saves import (
        Checkpoints,
        Summaries,
    )
    from tb_slowdown_plugin.collectors.system.amd_gpu import AmdGpu
    from tb_slowdown_plugin.collectors.system.cpu import CpuContention
    from tb_slowdown_plugin.collectors.system.gpu import Nvml
    from tb_slowdown_plugin.collectors.system.memory import (
        HostMemory,
        ProcessMemory,
    )
    from tb_slowdown_plugin.collectors.system.pressure import Pressure
    from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
    from tb_slowdown_plugin.collectors.tracing.graph_size import GraphSize
    from tb_slowdown_plugin.collectors.xla.collector import XlaCompilations

    traces = TraceCollector()
    return [
        traces,
        XlaCompilations(traces),
        GarbageCollector(),
        InputWait(),
        InputStages(),
        BatchShapes(),
        Checkpoints(),
        Summaries(),
        Optimizers(),
        PredictCalls(),
        Evaluations(),
        Captures(),
        ProcessMemory(),
        Allocator(),
        GraphSize(),
        CpuContention(),
        Pressure(),
        HostMemory(),
        DiskIo(),
        OutputFiles(),
        Nvml(),
        AmdGpu(),
        Communication(),
        LiveTensors(),
        Tapes(),
        PythonStacks(),
    ]

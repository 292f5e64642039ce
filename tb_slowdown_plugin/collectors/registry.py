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
    from tb_slowdown_plugin.collectors.allocator import Allocator
    from tb_slowdown_plugin.collectors.amd_gpu import AmdGpu
    from tb_slowdown_plugin.collectors.batch_shapes import BatchShapes
    from tb_slowdown_plugin.collectors.captures import Captures
    from tb_slowdown_plugin.collectors.checkpoints import Checkpoints
    from tb_slowdown_plugin.collectors.communication import Communication
    from tb_slowdown_plugin.collectors.cpu_contention import CpuContention
    from tb_slowdown_plugin.collectors.disk_io import DiskIo
    from tb_slowdown_plugin.collectors.evaluations import Evaluations
    from tb_slowdown_plugin.collectors.garbage import GarbageCollector
    from tb_slowdown_plugin.collectors.graph_size import GraphSize
    from tb_slowdown_plugin.collectors.host_memory import HostMemory
    from tb_slowdown_plugin.collectors.input_stages import InputStages
    from tb_slowdown_plugin.collectors.input_wait import InputWait
    from tb_slowdown_plugin.collectors.live_tensors import LiveTensors
    from tb_slowdown_plugin.collectors.nvml import Nvml
    from tb_slowdown_plugin.collectors.optimizers import Optimizers
    from tb_slowdown_plugin.collectors.output_files import OutputFiles
    from tb_slowdown_plugin.collectors.predict_calls import PredictCalls
    from tb_slowdown_plugin.collectors.pressure import Pressure
    from tb_slowdown_plugin.collectors.process_memory import ProcessMemory
    from tb_slowdown_plugin.collectors.python_stacks import PythonStacks
    from tb_slowdown_plugin.collectors.summaries import Summaries
    from tb_slowdown_plugin.collectors.tapes import Tapes
    from tb_slowdown_plugin.collectors.tracing import TraceCollector
    from tb_slowdown_plugin.collectors.xla import XlaCompilations

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

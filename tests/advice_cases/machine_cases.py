"""The machine: for each advice what it is offered for, and what not."""

from __future__ import annotations

from typing import Any

from advice_cases.evidence import (
    ALWAYS,
    program,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Board, Program
from tb_slowdown_plugin.analysis.causes.data.communication import (
    Workers,
)
from tb_slowdown_plugin.analysis.causes.data.host_device_transfer import (
    Copies,
)
from tb_slowdown_plugin.analysis.causes.machine import (
    profiling,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.machine.cpu_contention_fixes import (
    Contention,
    Cores,
)
from tb_slowdown_plugin.analysis.causes.memory.gpu_memory import (
    DeviceMemory,
)
from tb_slowdown_plugin.analysis.causes.memory.host_memory import (
    RecordedHostMemory,
)

CASES: dict[str, tuple[Any, Any]] = {
    "communication.fix_the_straggler": (Workers(1, "in `input_wait`"), Workers(in_turn=True)),
    "communication.balance": (Workers(in_turn=True), Workers(1)),
    "communication.record_all_workers": (Workers(), Workers(1)),
    "communication.accumulate": (Workers(), Workers(1)),
    "cpu_contention_fixes.threads_elsewhere": (
        Contention(Cores(2), "own threads"),
        Contention(Cores(2)),
    ),
    "cpu_contention_fixes.fewer_processes": (
        Contention(Cores(2), "started"),
        Contention(Cores(2)),
    ),
    "cpu_contention_fixes.raise_quota": (
        Contention(Cores(8, quota=2.5), "quota"),
        Contention(Cores(8)),
    ),
    "cpu_contention_fixes.move_others": (
        Contention(Cores(8)),
        Contention(Cores(8, quota=2.5), "quota"),
    ),
    "cpu_contention_fixes.fewer_threads_in_words": (Contention(Cores()), Contention(Cores(8))),
    "cpu_contention_fixes.as_many_as_cores": (
        Contention(Cores(4, threads=16)),
        Contention(Cores(4, threads=4)),
    ),
    "cpu_contention_fixes.fewer_threads": (Contention(Cores(8)), Contention(Cores(8, threads=2))),
    "cpu_contention_fixes.fewer_data_threads": (
        Contention(Cores(8)),
        Contention(Cores(8), feeds=False),
    ),
    "host_device_transfer.convert_once": (Copies(is_fed=True), Copies()),
    "host_device_transfer.copy_ahead": (
        Copies(),
        Copies(program("Range Batch CopyToDevice Prefetch")),
    ),
    "host_device_transfer.small_types": (Copies(), Copies(to_device=False)),
    "host_device_transfer.read_rarely": (Copies(), Copies(Program(in_fit=True))),
    "host_memory.read_once": (RecordedHostMemory(full=False), RecordedHostMemory()),
    "host_memory.move_cache_to_disk": (
        RecordedHostMemory(program("Range Cache Batch")),
        RecordedHostMemory(program("Range Batch")),
    ),
    "host_memory.smaller_shuffle_buffer": (
        RecordedHostMemory(program("Range Shuffle Batch", shuffle_buffer=50_000)),
        RecordedHostMemory(program("Range Batch")),
    ),
    "host_memory.bound_the_pipeline": (
        RecordedHostMemory(program("Range Batch Prefetch")),
        RecordedHostMemory(program("Range Batch")),
    ),
    "host_memory.numbers": (RecordedHostMemory(tensors_grow=True), RecordedHostMemory()),
    "gpu_memory.numbers": (DeviceMemory(tensors_grow=True), DeviceMemory()),
    "gpu_memory.smaller_batch": (DeviceMemory(), ALWAYS),
    "gpu_memory.mixed_precision": (DeviceMemory(), DeviceMemory(half_precision=True)),
    "gpu_memory.asynchronous": (
        DeviceMemory(allocator="GPU_0_bfc"),
        DeviceMemory(allocator="cuda_malloc_async"),
    ),
    "gpu_memory.memory_growth": (DeviceMemory(shared=True), DeviceMemory()),
    "thermal.cool": (thermal.Clocks(hot=True), thermal.Clocks(hot=False)),
    "thermal.lower_the_limit": (thermal.Clocks(hot=True), thermal.Clocks(hot=True, amd=True)),
    "thermal.check_the_supply": (thermal.Clocks(hot=False), thermal.Clocks(hot=True)),
    "thermal.watch": (thermal.Clocks(hot=True), thermal.Clocks(hot=True, amd=True)),
    "thermal.watch_amd": (thermal.Clocks(hot=True, amd=True), thermal.Clocks(hot=True)),
    "profiling.stop_in_callback": (
        profiling.ProfilerStarter(by_callback=True),
        profiling.ProfilerStarter(by_callback=True, board=Board(profiles=False)),
    ),
    "profiling.capture_few": (
        profiling.ProfilerStarter(by_callback=False),
        profiling.ProfilerStarter(by_callback=True, in_fit=True),
    ),
}

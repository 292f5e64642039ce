"""Advice for host memory that is full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    new,
    numbers,
    old,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import smaller_buffer
from tb_slowdown_plugin.analysis.causes.common.program import UNKNOWN, Program
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class HostMemory:
    """What the record says of host memory."""

    program: Program = UNKNOWN
    full: bool = True
    """RAM is; else pages are read that are not in it."""
    tensors_grow: bool = False
    """The memory of live tensors grows."""


def advise(memory: HostMemory) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, memory)


def _is_mapped(memory: HostMemory) -> bool:
    return not memory.full


def _has(memory: HostMemory, stage: str, *, unknown: bool) -> bool:
    pipeline = memory.program.pipeline
    return memory.full and (unknown if pipeline is None else pipeline.has(stage))


def _caches(memory: HostMemory) -> bool:
    """The pipeline has a cache, or is not recorded."""
    return _has(memory, "Cache", unknown=True)


def _shuffles(memory: HostMemory) -> bool:
    return _has(memory, "Shuffle", unknown=False)


def _prefetches(memory: HostMemory) -> bool:
    """The pipeline prefetches, or is not recorded."""
    return _has(memory, "Prefetch", unknown=True)


def _tensors_grow(memory: HostMemory) -> bool:
    return memory.tensors_grow


def smaller_shuffle_buffer(memory: HostMemory) -> Advice:
    """Than the recorded one."""
    pipeline = memory.program.pipeline
    return smaller_buffer(round(pipeline.numbers.get("shuffle_buffer", 0)) if pipeline else 0)


def read_once() -> Advice:
    """Not page by page."""
    return Advice(
        "Read a mapped file into memory once, if it fits; mapped, it is read where it is touched, "
        "a page at a time.",
        snippet(old('x = np.load(path, mmap_mode="r")'), new("x = np.load(path)")),
        "The whole array in RAM, and its reading before the first step.",
        "find `mmap_mode` or `np.memmap`",
    )


def move_cache_to_disk() -> Advice:
    """Not in RAM."""
    return Advice(
        "Put the cache on disk: `cache()` without a name holds the whole data set in RAM.",
        snippet(
            old("ds = ds.cache()"),
            new('ds = ds.cache("cache/train")'),
        ),
        "Disk space, and reading it back in each epoch.",
        "find the `cache` in your input pipeline",
    )


def bound_the_pipeline() -> Advice:
    """Fewer batches."""
    return Advice(
        "Bound what the input pipeline holds: a fixed number of batches, and a budget for what "
        "`AUTOTUNE` may use.",
        snippet(
            new("options = tf.data.Options()", "options.autotune.ram_budget = 2**30"),
            old("ds = ds.prefetch(tf.data.AUTOTUNE)"),
            new("ds = ds.prefetch(2).with_options(options)"),
        ),
        "Less that is ready when a batch takes long to make.",
        "find the `prefetch` at the end of your input pipeline",
    )


OFFERS: Final = (
    Offer(plain(read_once), when=_is_mapped),
    Offer(plain(move_cache_to_disk), when=_caches),
    Offer(smaller_shuffle_buffer, when=_shuffles),
    Offer(plain(bound_the_pipeline), when=_prefetches),
    Offer(plain(numbers), when=_tensors_grow),
)

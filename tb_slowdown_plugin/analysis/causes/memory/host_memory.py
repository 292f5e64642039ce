"""The process waits for pages from disk: host memory is full, or files are memory-mapped.

How it looks: Slow steps have major page faults, at least one per step. Growth that costs no time is
shown and not named.

Confused with:

- `input_pipeline`: Page faults in the threads that load data make batches late. That is input wait.
- `disk`: Both wait for the disk. Major page faults are reads of memory; Disk is about writing.
- `tensor_retention`: Retained tensors make steps slower without any page fault.
- Healthy, a larger process: A larger RSS alone, or page faults in the first steps, when libraries
  are loaded, are no reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask
from tb_slowdown_plugin.analysis.causes.common.fixes import new, numbers, old, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import smaller_buffer
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_rate,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES, UNKNOWN, Program
from tb_slowdown_plugin.analysis.causes.memory.growing_bytes import tensors_grow
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_FAULTS
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL


def _caches(memory: RecordedHostMemory) -> bool:
    """The pipeline has a cache, or is not recorded."""
    return _has(memory, "Cache", unknown=True)


def _is_mapped(memory: RecordedHostMemory) -> bool:
    return not memory.full


def _prefetches(memory: RecordedHostMemory) -> bool:
    """The pipeline prefetches, or is not recorded."""
    return _has(memory, "Prefetch", unknown=True)


def _shuffles(memory: RecordedHostMemory) -> bool:
    return _has(memory, "Shuffle", unknown=False)


def _tensors_grow(memory: RecordedHostMemory) -> bool:
    return memory.tensors_grow


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


def read_once() -> Advice:
    """Not page by page."""
    return Advice(
        "Read a mapped file into memory once, if it fits; mapped, it is read where it is touched, "
        "a page at a time.",
        snippet(old('x = np.load(path, mmap_mode="r")'), new("x = np.load(path)")),
        "The whole array in RAM, and its reading before the first step.",
        "find `mmap_mode` or `np.memmap`",
    )


def smaller_shuffle_buffer(memory: RecordedHostMemory) -> Advice:
    """Than the recorded one."""
    return smaller_buffer(memory.program.shuffle_buffer)


OFFERS: Final = (
    Offer(plain(read_once), when=_is_mapped),
    Offer(plain(move_cache_to_disk), when=_caches),
    Offer(smaller_shuffle_buffer, when=_shuffles),
    Offer(plain(bound_the_pipeline), when=_prefetches),
    Offer(plain(numbers), when=_tensors_grow),
)


def explain(case: Case) -> Claim | None:
    """Claims slow steps that come with major page faults, while other steps have none."""
    pressed = rows_by_rate(case, "major_faults", lambda faults: faults >= LEAST_FAULTS)
    claimed = lying_in(case, pressed)
    if not claimed:
        return None
    return Claim(
        "host_memory",
        claimed,
        "host memory pressure" if _is_full(case) else "major page faults",
        "Host memory is full, and the process waits for evicted pages to be read back."
        if _is_full(case)
        else "The process waits for pages from disk: memory-mapped files or swapped-out memory.",
        tuple(_evidence(case, claimed, pressed)),
        advise(
            RecordedHostMemory(
                Program.of(case.run), full=_is_full(case), tensors_grow=tensors_grow(case)
            )
        ),
        "medium",
    )


def _is_full(case: Case) -> bool:
    """Whether little memory was left at some time, as far as that is known."""
    limit = case.run.environment.limits.get("memory_limit_bytes", 0.0)
    used = case.signal("rss_bytes")[1]
    free = case.signal("memory_available_bytes")[1]
    if len(used) and limit and used.max() >= (1 - (1 - NEARLY_ALL)) * limit:
        return True
    return bool(len(free) and limit and free.min() <= (1 - NEARLY_ALL) * limit)


def _evidence(case: Case, claimed: tuple[Finding, ...], pressed: Mask) -> Iterable[str]:
    faults = case.signal("major_faults")[1]
    yield (
        f"{count(faults[-1] - faults[0])} pages were read from disk (major faults), in "
        f"{tell_rows(case, pressed)}."
    )
    yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)
    memory = case.signal("rss_bytes")[1]
    limit = case.run.environment.limits.get("memory_limit_bytes")
    if len(memory) and limit:
        yield f"The process used up to {size(float(memory.max()))} of {size(limit)}."


@dataclass(frozen=True, slots=True)
class RecordedHostMemory:
    """What the record says of host memory."""

    program: Program = UNKNOWN
    full: bool = True
    """RAM is; else pages are read that are not in it."""
    tensors_grow: bool = False
    """The memory of live tensors grows."""


def advise(memory: RecordedHostMemory) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, memory)


def _has(memory: RecordedHostMemory, stage: str, *, unknown: bool) -> bool:
    pipeline = memory.program.pipeline
    return memory.full and (unknown if pipeline is None else pipeline.has(stage))


EXAMPLES: Final = (RecordedHostMemory(SHUFFLES),)
"""Evidence for its page in the documentation."""

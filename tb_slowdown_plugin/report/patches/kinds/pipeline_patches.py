"""Stages of the pipeline are added, run in parallel, or swapped, at their own calls.

A patch is made of what the report advises anyway: where it fits is known there, here only
whether it is certain.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import size
from tb_slowdown_plugin.report.patches.code.elementwise import is_elementwise
from tb_slowdown_plugin.report.patches.code.source import Edit, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    alias_of,
    called_name,
    keyword,
    refuse_stars,
)
from tb_slowdown_plugin.report.patches.evidence import ChangesResults, Evidence, Patch
from tb_slowdown_plugin.report.patches.kinds.pipeline_chain import Chain, StageCall, find_chain
from tb_slowdown_plugin.report.patches.kinds.same_elements import (
    draws,
    refuse_python,
    refuse_varying,
)

_MOST_BYTES: Final = 2**30
"""That a patch lets a program keep in memory."""
_LEFT_EARLY: Final = frozenset({"shard", "skip", "take"})


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each advice of the cause that the source at hand allows."""
    for sign, make in _PATCHES:
        advised = tuple(each for each in evidence.cause.advice if sign in each.code)
        if advised:
            yield partial(_patch_of, evidence, make, advised)


def _patch_of(
    evidence: Evidence, make: Callable[[Evidence], Patch], advised: tuple[Advice, ...]
) -> Patch:
    return replace(make(evidence), instead_of=advised)


def _prefetch(evidence: Evidence) -> Patch:
    chain = find_chain(evidence)
    refuse_python(chain)
    if chain.stages[-1].method == "prefetch":
        raise UncertainError(
            "The pipeline already ends with `prefetch`. Make its slowest stage faster instead."
        )
    tf = alias_of(chain.source, "tensorflow")
    end = chain.stages[-1]
    return evidence.patch(
        "Prepare the next batch while the step runs (`prefetch`).",
        chain.source,
        end.call.end_lineno or end.call.lineno,
        [_append(chain, end, f"prefetch({tf}.data.AUTOTUNE)")],
        note="It takes a few batches of memory.",
    )


def _run_maps_in_parallel(evidence: Evidence) -> Patch:
    chain = find_chain(evidence)
    maps = [each for each in chain.named("map") if keyword(each.call, "num_parallel_calls") is None]
    if chain.recorded.get("python"):
        raise UncertainError(
            "The pipeline runs Python code for one element at a time, which threads don't make "
            "faster. Replace `tf.py_function` and `tf.numpy_function` by TensorFlow operations."
        )
    if not maps:
        raise UncertainError(
            "Each `map` of the pipeline already runs in parallel. Make its function "
            "cheaper, or cache its result."
        )
    return _in_parallel(evidence, chain, maps, "`map` works on several elements at once")


def _run_batches_in_parallel(evidence: Evidence) -> Patch:
    chain = find_chain(evidence)
    batches = [
        each for each in chain.named("batch") if keyword(each.call, "num_parallel_calls") is None
    ]
    if len(batches) != 1:
        raise UncertainError(
            "The pipeline doesn't have exactly one `batch` without `num_parallel_calls`. "
            "Set it where batches are slow."
        )
    return _in_parallel(evidence, chain, batches, "Several batches are put together at once")


def _in_parallel(evidence: Evidence, chain: Chain, stages: list[StageCall], what: str) -> Patch:
    refuse_python(chain)
    source = chain.source
    tf = alias_of(source, "tensorflow")
    changes: ChangesResults = "no"
    edits = []
    for stage in stages:
        refuse_stars(stage.call)
        if len(stage.call.args) != 1 or keyword(stage.call, "deterministic") is not None:
            raise UncertainError(
                f"`{stage.method}` has more arguments than the first, which may conflict. Add "
                "`num_parallel_calls=tf.data.AUTOTUNE` yourself."
            )
        if stage.method == "map" and draws(chain, stage):
            changes = "yes"
        start, end = source.span(stage.call)
        inside = source.text[start : end - 1].rstrip()
        comma = " " if inside.endswith(",") else ", "
        at = start + len(inside)
        edits.append(Edit(at, at, f"{comma}num_parallel_calls={tf}.data.AUTOTUNE"))
    return evidence.patch(
        f"{what} (`num_parallel_calls`).",
        source,
        stages[0].call.end_lineno or stages[0].call.lineno,
        edits,
        changes_results=changes,
        note="Random numbers of its function come in another order." if changes == "yes" else "",
    )


def _cache(evidence: Evidence) -> Patch:
    """After the last stage whose elements are the same in each pass."""
    chain = find_chain(evidence)
    maps = chain.named("map")
    last = max((chain.stages.index(each) for each in maps), default=-1)
    while (
        last >= 0
        and chain.stages[last + 1 :][:1]
        and (chain.stages[last + 1].method in ("batch", "padded_batch"))
    ):
        last += 1
    refuse_varying(chain, last)
    if chain.named("cache"):
        raise UncertainError(
            "The pipeline already has a `cache`. Check that each epoch reads it to its end."
        )
    if _LEFT_EARLY & {each.method for each in chain.stages[last + 1 :]} or _is_left_early(chain):
        raise UncertainError(
            "An epoch may end before the data does, so a `cache` would never complete. "
            "Put `take` before `cache`."
        )
    kept = chain.recorded.get("mapped_bytes", 0.0)
    if not 0 < kept <= _MOST_BYTES:
        raise UncertainError(
            "A `cache` would take more than 1 GB of memory, or its size isn't known. Use "
            "`cache(filename)`, which writes to disk."
        )
    stage = chain.stages[last]
    return evidence.patch(
        "Keep what is the same in each epoch (`cache`).",
        chain.source,
        stage.call.end_lineno or stage.call.lineno,
        [_append(chain, stage, "cache()")],
        note=f"It takes {size(kept)} of memory.",
    )


def _batch_first(evidence: Evidence) -> Patch:
    chain = find_chain(evidence)
    one, other = _find_neighbours(chain, "map", "batch")
    if not (one.call.args and is_elementwise(chain.source, one.call.args[0])):
        raise UncertainError(
            "The function of the `map` does more than elementwise arithmetic, so it may not accept "
            "whole batches. Vectorize it, then batch before it."
        )
    return evidence.patch(
        "Work on whole batches: `batch` before `map`.",
        chain.source,
        one.call.end_lineno or one.call.lineno,
        [_swap(chain, one, other)],
        changes_results="numerics",
    )


def _complete_the_cache(evidence: Evidence) -> Patch:
    chain = find_chain(evidence)
    one, other = _find_neighbours(chain, "cache", "take")
    refuse_varying(chain, chain.stages.index(one) - 1)
    if _is_left_early(chain):
        raise UncertainError(
            "An epoch may end before the data does, so the `cache` would not complete. "
            "Remove the `break`, or the limit on steps."
        )
    return evidence.patch(
        "Take what an epoch needs before `cache`: it holds only after a pass to its end.",
        chain.source,
        one.call.end_lineno or one.call.lineno,
        [_swap(chain, one, other)],
    )


_PATCHES: Final = (
    (".prefetch(", _prefetch),
    (".take(100).cache()", _complete_the_cache),
    ("ds.batch(64).map(", _batch_first),
    ("ds.map(augment, num_parallel_calls=", _run_maps_in_parallel),
    ("ds.batch(64, num_parallel_calls=", _run_batches_in_parallel),
    ("ds = ds.cache()", _cache),
)
"""What stands in the code of an advice, and the patch of it. What is added at the same place
comes before what was added first."""


def _append(chain: Chain, stage: StageCall, text: str) -> Edit:
    """A call behind a stage, written as the stage is: in its line, or in one of its own."""
    source = chain.source
    _, end = source.span(stage.call)
    return Edit(end, end, f"{_between(chain, stage)}{text}")


def _between(chain: Chain, stage: StageCall) -> str:
    """What stands between a stage and the one before: ".", or a new line and "."."""
    source = chain.source
    function = stage.call.func
    _, before = source.span(function.value)  # type: ignore[attr-defined]
    _, end = source.span(function)
    between = source.text[before : end - len(stage.method)]
    _, line, indent = between.rpartition("\n")
    return f"{source.newline}{indent}" if line else "."


def _find_neighbours(chain: Chain, first: str, second: str) -> tuple[StageCall, StageCall]:
    """The one place where a stage stands right behind another, in one expression.

    Raises:
      UncertainError: There is none, or more than one.
    """
    pairs = [
        (one, other)
        for one, other in zip(chain.stages, chain.stages[1:], strict=False)
        if (one.method, other.method) == (first, second) and other.call.func.value is one.call  # type: ignore[attr-defined]
    ]
    if len(pairs) != 1:
        raise UncertainError(
            f"The pipeline doesn't have exactly one `{first}` directly followed by "
            f"`{second}`. Swap them where it is built."
        )
    return pairs[0]


def _swap(chain: Chain, one: StageCall, other: StageCall) -> Edit:
    """Two calls of one expression change places."""
    source = chain.source
    _, start = source.span(one.call.func.value)  # type: ignore[attr-defined]
    _, middle = source.span(one.call)
    _, end = source.span(other.call)
    return Edit(start, end, source.text[middle:end] + source.text[start:middle])


def _is_left_early(chain: Chain) -> bool:
    if isinstance(chain.user, ast.Call):
        return (
            called_name(chain.user) != "fit" or keyword(chain.user, "steps_per_epoch") is not None
        )
    return any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(chain.user))

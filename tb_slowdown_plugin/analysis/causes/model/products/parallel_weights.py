"""Many small weights on one tensor: the line, and the layer that has all of them."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import PARALLEL_WEIGHTS


def claim_parallel_weights(case: Case, found: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, found, {PARALLEL_WEIGHTS: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    times = round(numbers["times"])
    is_lookup = numbers.get("lookups", 0.0) > 0
    does, instead = (
        (f"looks up rows in {times} tables, one after the other", "One table with the rows of all")
        if is_lookup
        else (f"multiplies one tensor by {times} weights, one by one", "One layer with all of them")
    )
    return CountedWork(
        "tables one by one" if is_lookup else "weights one by one",
        f"Each step {does}, at first in {place}. {instead} computes the same at once.",
        f": {percent(numbers['share'])} of what the step's graph computes is starting operations "
        "for each of the others, those of their gradients and of the optimizer, too. All steps "
        "have it, so no clock can tell",
        (_make_one_table if is_lookup else _make_one_layer)(times, place),
    )


def _make_one_layer(times: int, place: str) -> Advice:
    return Advice(
        "Make one layer with the units of all of them, and take its output apart where that is "
        "needed.",
        snippet(
            old(f"parts = [layers.Dense(1)(features) for _ in range({times})]"),
            old("joined = layers.Concatenate()(parts)"),
            new(f"joined = layers.Dense({times})(features)"),
        ),
        "Initial weights are drawn by the shape of the whole layer. Saved weights of the small "
        "layers don't fit: join them by `tf.concat`.",
        f"in `{place}`",
    )


def _make_one_table(times: int, place: str) -> Advice:
    return Advice(
        "Make one table with the rows of all of them, and add to each column where its rows begin.",
        snippet(
            old(f"tables = [layers.Embedding(rows, 8) for _ in range({times})]"),
            old("parts = [table(ids[:, n]) for n, table in enumerate(tables)]"),
            old("features = tf.concat(parts, axis=-1)"),
            new(f"table = layers.Embedding({times} * rows, 8)"),
            new(f"parts = table(ids + rows * tf.range({times}, dtype=ids.dtype))"),
            new("features = layers.Flatten()(parts)"),
        ),
        "All columns need as many numbers for each row. Where tables have different numbers of "
        "rows, add the sum of those before. An id that is too large reads another column's rows, "
        "and `mask_zero` masks the first column only.",
        f"in `{place}`",
    )

"""Loops over the examples of a batch, where one operation would do for all: the line."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.causes.model.loops.wrapped_layers import tell_wrapped
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import INDEPENDENT_ROUNDS, UNROLLED_ROUNDS


def claim_loops(case: Case, loops: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, loops, {INDEPENDENT_ROUNDS: _tell, UNROLLED_ROUNDS: _tell_unrolled})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    return CountedWork(
        "a loop over the examples of a batch",
        f"Each step goes through a loop of {count(numbers['times'])} rounds in its graph, in "
        f"{place}. Each round starts its own operations, and needs nothing of the others.",
        ", by the operations that the graph starts for all rounds but one, and for their "
        "gradients. All steps have them, so no clock can tell",
        Advice(
            "Compute for all examples at once: with operations that take the whole batch, or with "
            "`tf.vectorized_map`, which makes such operations of the function.",
            snippet(
                old("losses = tf.map_fn(loss_of_one, (outputs, labels), tf.float32)"),
                new("losses = tf.vectorized_map(loss_of_one, (outputs, labels))"),
            ),
            "It needs memory for all examples at once, and results of one shape.",
            f"in `{place}`",
        ),
    )


def _tell_unrolled(numbers: Mapping[str, float], place: str) -> CountedWork:
    if numbers.get("wrapped"):
        return tell_wrapped(numbers, place)
    return CountedWork(
        "the same for one example after the other",
        f"Each step computes the same {count(numbers['times'])} times, for one piece of a tensor "
        f"after the other, from {place} on: a loop of Python puts the operations of all of its "
        "rounds into the graph. No round needs anything of the others.",
        ", by the operations that the graph starts for all rounds but one, and for their "
        "gradients. All steps have them, so no clock can tell. To trace them takes as many times "
        "as long, too",
        Advice(
            "Compute for all examples at once: with operations that take the whole batch, or with "
            "`tf.vectorized_map`, which makes such operations of the function.",
            snippet(
                old("for i in range(BATCH):"),
                old("    loss += loss_of_one((outputs[i], labels[i]))"),
                new("loss = tf.reduce_sum(tf.vectorized_map(loss_of_one, (outputs, labels)))"),
            ),
            "It needs memory for all examples at once, and results of one shape.",
            f"in `{place}`",
        ),
    )

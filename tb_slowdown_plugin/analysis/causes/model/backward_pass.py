"""Computing gradients keeps getting slower, or a step computes more than it needs.

How it looks: The phase `backward` grows, the phase `forward` does not. Or each step, from the first
on, computes what it doesn't need: unused gradients, all rows of a table, a second pass on one
batch, products with zeros, one example after another, or all of a Jacobian for its diagonal.

Confused with:

- `tensor_retention`: An open gradient tape causes both. Without the phase, growing memory shows it
  as tensor retention.
- `optimizer_state`: Applying gradients is the phase `optimizer`.
- Healthy, larger batches: The phase `forward` grows, too, and so do the batches. That is workload.
- A blind spot: Without `phase("backward")` growth can't be named. What a step doesn't need isn't
  counted where its graph has a loop of which nobody knows how often it goes round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import (
    mixed_precision,
    new,
    old,
    short_tape,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places.step_parts import in_part, tell_part
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.model.both_branches import claim_branches
from tb_slowdown_plugin.analysis.causes.model.loops.full_jacobians import claim_jacobians
from tb_slowdown_plugin.analysis.causes.model.loops.independent_rounds import claim_loops
from tb_slowdown_plugin.analysis.causes.model.loops.pieces import claim_pieces
from tb_slowdown_plugin.analysis.causes.model.padding import claim_padding
from tb_slowdown_plugin.analysis.causes.model.products.factorizations import (
    claim_factorizations,
)
from tb_slowdown_plugin.analysis.causes.model.products.pairwise_distances import claim_distances
from tb_slowdown_plugin.analysis.causes.model.products.parallel_weights import (
    claim_parallel_weights,
)
from tb_slowdown_plugin.analysis.causes.model.products.product_order import claim_order
from tb_slowdown_plugin.analysis.causes.model.products.sparse_products import claim_products
from tb_slowdown_plugin.analysis.causes.model.second_passes import claim_passes
from tb_slowdown_plugin.analysis.causes.model.untaken_rows import claim_untaken
from tb_slowdown_plugin.analysis.causes.model.unused_gradients import claim_unused
from tb_slowdown_plugin.analysis.causes.model.whole_tables import claim_tables
from tb_slowdown_plugin.analysis.causes.model.zero_work import claim_zeros
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.catalog import names


def _grows(backward: Backward) -> bool:
    return backward.grows


def _would_gain(backward: Backward) -> bool:
    """Half precision is not on, and helps."""
    return backward.accelerated and not backward.half_precision


def stop_gradient() -> Advice:
    """Not through earlier steps."""
    return Advice(
        "Stop the gradient at what earlier steps computed: otherwise it runs through all of them.",
        snippet(
            old("state = cell(batch, state)"),
            new("state = cell(batch, tf.stop_gradient(state))"),
        ),
        "Dependencies longer than a step are no longer learned.",
        "find the state that one step hands to the next",
    )


OFFERS: Final = (
    Offer(plain(short_tape), when=_grows),
    Offer(plain(stop_gradient), when=_grows),
    Offer(plain(mixed_precision), when=_would_gain),
)


_COUNTED: Final = {
    names.UNUSED_GRADIENTS: claim_unused,
    names.REPEATED_PASS: claim_passes,
    names.SPARSE_PRODUCTS: claim_products,
    names.DISTANCES: claim_distances,
    names.WHOLE_TABLES: claim_tables,
    names.LOOPS: claim_loops,
    names.PIECES: claim_pieces,
    names.UNTAKEN_ROWS: claim_untaken,
    names.PRODUCT_ORDER: claim_order,
    names.FACTORIZATIONS: claim_factorizations,
    names.ZERO_WORK: claim_zeros,
    names.BOTH_BRANCHES: claim_branches,
    names.FULL_JACOBIANS: claim_jacobians,
    names.PARALLEL_WEIGHTS: claim_parallel_weights,
    names.PADDING: claim_padding,
}
"""Accounts of what graphs tell -> who claims it."""


def explain(case: Case) -> Claim | None:
    """Claims gradients that nobody uses, or growth of the step in the phase `backward`."""
    for family, claim in _COUNTED.items():
        if found := case.of(family):
            return claim(case, found)
    claimed = in_part(case, names.BACKWARD)
    if not claimed:
        return None
    devices = case.run.environment.devices
    return Claim(
        "backward_pass",
        claimed,
        "a slower backward pass",
        "The backward pass got slower.",
        tuple(tell_part(case, claimed, names.BACKWARD)),
        advise(
            Backward(
                accelerated=not devices or any(kind != "CPU" for _, kind in devices),
                half_precision=Program.of(case.run).half_precision,
                grows=any(finding.pattern in ("drift", "level_shift") for finding in claimed),
            )
        ),
        "high",
    )


@dataclass(frozen=True, slots=True)
class Backward:
    """What the record says of gradients that take long."""

    grows: bool = True
    """They take longer and longer."""
    accelerated: bool = True
    """There is a GPU or TPU, or nobody knows."""
    half_precision: bool = False


def advise(backward: Backward) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, backward)


EXAMPLES: Final = (Backward(),)
"""Evidence for its page in the documentation."""

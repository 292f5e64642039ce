"""Three matrices that are multiplied in the longer order: the line, and the other order."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import PRODUCT_ORDER


def claim_order(case: Case, orders: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, orders, {PRODUCT_ORDER: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    products, needed = (count(numbers[name]) for name in ("products", "needed"))
    return CountedWork(
        "the order of three matrices",
        f"Each step multiplies three matrices, in {place}, in an order that takes {products} "
        f"products of numbers. In the other order they are {needed}.",
        ", by what both orders take in the step's graph, with their gradients. All steps have it, "
        "so no clock can tell",
        Advice(
            "Multiply first what makes the matrices small.",
            snippet(
                old("outputs = (adjacency @ states) @ weights"),
                new("outputs = adjacency @ (states @ weights)"),
            ),
            "None but rounding.",
            f"in `{place}`",
        ),
    )

"""Steps that compute in double precision: a note, as some programs need it."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import whole_percent
from tb_slowdown_plugin.catalog.events import DOUBLE_PRECISION
from tb_slowdown_plugin.records.types import Fact


def tell_double_precision(case: Case) -> Iterable[str]:
    """How much, where, and how that comes about."""
    fact = _find(case)
    if fact is not None:
        yield (
            f"{whole_percent(fact.numbers['share'])} of what the step's graph computes is in "
            f"`float64`, at first in {fact.subject}. On a CPU that takes 3 to 5 times as long as "
            "`float32`, and longer on most GPUs. Keras computes so after `set_floatx`. Arrays of "
            "NumPy are `float64`, and so is a variable that is made of one: "
            "`x.astype(np.float32)` before the loop makes it `float32`. Leave it where the results "
            "need it."
        )


def tell_double_precision_shortly(case: Case) -> str:
    """The same in a headline."""
    if _find(case) is None:
        return ""
    return "But its graph computes in `float64`, which takes 3 to 5 times as long as `float32`."


def _find(case: Case) -> Fact | None:
    """What is told of the graph with most of it."""
    found = [fact for _, fact in case.run.facts(DOUBLE_PRECISION)]
    return max(found, key=lambda fact: fact.numbers["share"], default=None)

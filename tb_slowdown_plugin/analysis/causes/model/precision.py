"""Steps computed in a precision that the device is slow in: notes, as some programs need it."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import whole_percent
from tb_slowdown_plugin.catalog.events import DOUBLE_PRECISION, FLOAT16_WORK
from tb_slowdown_plugin.records.types import Fact


def tell_precision(case: Case) -> Iterable[str]:
    """How much, where, and how that comes about."""
    if (fact := _find(case, DOUBLE_PRECISION)) is not None:
        yield (
            f"{whole_percent(fact.numbers['share'])} of what the step's graph computes is in "
            f"`float64`, at first in {fact.subject}. On a CPU that takes 2 to 5 times as long as "
            "`float32`, and longer on most GPUs. Keras computes so after `set_floatx`. Arrays of "
            "NumPy are `float64`, and so is a variable that is made of one: "
            "`x.astype(np.float32)` before the loop makes it `float32`. Leave it where the results "
            "need it."
        )
    if (fact := _find_half(case)) is not None:
        yield (
            f"{whole_percent(fact.numbers['share'])} of what the step's graph computes is in "
            f"`float16`, at first in {fact.subject}. That is fast on GPUs with Tensor Cores; on a "
            "CPU it takes up to 7 times as long as `float32`, and most in convolutions. Set the "
            "policy `mixed_float16` only where "
            "`tf.config.list_physical_devices('GPU')` isn't empty."
        )


def tell_precision_shortly(case: Case) -> str:
    """The same in a headline."""
    if _find(case, DOUBLE_PRECISION) is not None:
        return "But its graph computes in `float64`, which takes 2 to 5 times as long as `float32`."
    if _find_half(case) is not None:
        return "But its graph computes in `float16`, which is slower than `float32` on a CPU."
    return ""


def _find_half(case: Case) -> Fact | None:
    """What is told of `float16` where there are only CPUs."""
    return _find(case, FLOAT16_WORK) if case.run.environment.is_cpu_alone else None


def _find(case: Case, name: str) -> Fact | None:
    """What is told of the graph with most of it."""
    found = [fact for _, fact in case.run.facts(name)]
    return max(found, key=lambda fact: fact.numbers["share"], default=None)

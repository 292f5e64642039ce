"""For each advice of each cause: evidence under which it applies, and under which it must not."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

from advice_cases import graphs_cases, input_cases, machine_cases, retracing_cases, saving_cases
from tb_slowdown_plugin.analysis import causes
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered
from tb_slowdown_plugin.analysis.report_types.causes import Advice

CASES: dict[str, tuple[Any, Any]] = {
    **input_cases.CASES,
    **retracing_cases.CASES,
    **saving_cases.CASES,
    **graphs_cases.CASES,
    **machine_cases.CASES,
}
"""module.function that writes the advice -> (it applies, it must be absent)"""

MODULES = tuple(
    module
    for found in pkgutil.walk_packages(causes.__path__, f"{causes.__name__}.")
    if hasattr(module := importlib.import_module(found.name), "OFFERS")
)


def offers_of(name: str) -> list[Offer[Any]]:
    """All offers of an advice: some stand at two places in their order."""
    module, _, function = name.partition(".")
    (found,) = (each for each in MODULES if each.__name__.endswith(f".{module}"))
    return [offer for offer in found.OFFERS if offer.name == function]


def names_of_all() -> set[str]:
    """Every advice that can be offered."""
    return {
        f"{module.__name__.rpartition('.')[2]}.{offer.name}"
        for module in MODULES
        for offer in module.OFFERS
    }


def every_advice() -> Iterable[Advice]:
    """Each advice, as it is where it applies."""
    for name, (applies, _) in CASES.items():
        yield from offered(offers_of(name), applies)

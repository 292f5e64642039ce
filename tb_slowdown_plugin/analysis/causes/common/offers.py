"""When an advice is offered: the text next to the condition on the record that it needs.

>>> from tb_slowdown_plugin.analysis.report_types.causes import Advice
>>> def prefetch(stages: set[str]) -> Advice:
...     return Advice("Prefetch the next batch.")
>>> def is_missing(stages: set[str]) -> bool:
...     return "Prefetch" not in stages
>>> offered([Offer(prefetch, when=is_missing)], {"Map", "Prefetch"})
()
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tb_slowdown_plugin.analysis.report_types.causes import Advice

E = TypeVar("E")
"""What a rule knows of the run: the evidence of one cause."""


@dataclass(frozen=True, slots=True)
class Offer(Generic[E]):
    """An advice, and the evidence under which it applies."""

    make: Callable[[E], Advice]
    when: Callable[[E], bool]

    @property
    def name(self) -> str:
        """The name of the function that writes the advice."""
        return self.make.__name__


def offered(offers: Iterable[Offer[E]], evidence: E) -> tuple[Advice, ...]:
    """The advice that applies, in the order of the offers, none of it twice."""
    found = (offer.make(evidence) for offer in offers if offer.when(evidence))
    return tuple(dict.fromkeys(found))


def plain(advice: Callable[[], Advice]) -> Callable[[Any], Advice]:
    """An advice whose text is the same for all evidence."""

    @functools.wraps(advice)
    def make(_evidence: Any) -> Advice:
        return advice()

    return make


def both(one: Callable[[E], bool], other: Callable[[E], bool]) -> Callable[[E], bool]:
    """Where both conditions are met."""
    return lambda evidence: one(evidence) and other(evidence)


def without(one: Callable[[E], bool], other: Callable[[E], bool]) -> Callable[[E], bool]:
    """Where the first condition is met, and the second isn't."""
    return lambda evidence: one(evidence) and not other(evidence)


def always(_evidence: Any) -> bool:
    """The cause itself is condition enough."""
    return True

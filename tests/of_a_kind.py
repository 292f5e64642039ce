"""Programs of one kind, of which the gate trains a few: `scripts/test --all` trains each."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def few(names: Iterable[str], *in_the_gate: str) -> list[str | ParameterSet]:
    """The names as parameters of a test; those that are not in the gate are marked `further`.

    Raises:
      ValueError: There is none of a name that the gate is to have.
    """
    known = list(names)
    if unknown := set(in_the_gate) - set(known):
        raise ValueError(f"{sorted(unknown)} are not among {known}")
    return [
        name if name in in_the_gate else pytest.param(name, marks=pytest.mark.further)
        for name in known
    ]

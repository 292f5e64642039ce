"""The keys of a cause in a report's JSON are a contract: their names and their order."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause, Suspect


def names_of(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def test_causes_and_suspects_have_their_keys() -> None:
    assert names_of(Cause)[:9] == [
        "cause", "lost_seconds", "lost_fraction", "pattern", "confidence", "steps", "summary",
        "evidence", "advice",
    ]  # fmt: skip
    assert names_of(Suspect) == ["cause", "seconds", "why"]


def test_values_can_not_be_changed_and_are_compared_by_what_they_say() -> None:
    advice = Advice("Rest.")
    assert advice == Advice("Rest.")
    assert (advice.code, advice.kind) == ("", "example")
    with pytest.raises(FrozenInstanceError):
        advice.text = "Work."  # type: ignore[misc]

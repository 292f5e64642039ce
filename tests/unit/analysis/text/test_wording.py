"""How numbers stand in sentences, at the edges of their units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    listed,
    rises,
    size,
    step_range,
    whole_percent,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00009994, "99.9 \u00b5s"), (0.0001, "0.1 ms"), (0.9994, "999 ms"), (0.9996, "1 s"),
        (9.994, "9.99 s"), (59.94, "59.9 s"), (59.96, "1 min 0 s"), (3599.4, "59 min 59 s"),
        (3600.0, "1 h 0 min"), (172_800.0, "2 d 0 h"), (-2.0, "\u22122 s"),
        (float("nan"), "an unknown time"),
    ],
)  # fmt: skip
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_page_writes_durations_alike(root: Path) -> None:
    """The page's own formatter is held to the same table by `frontend/src/base/format.test.ts`."""
    table = json.loads((root / "frontend" / "tests" / "durations.json").read_text())
    assert len(table) > 10
    assert [[seconds, duration(seconds)] for seconds, _ in table] == table


@pytest.mark.parametrize(
    ("number", "text"),
    [(999, "999 bytes"), (1000, "0.98 KiB"), (1 << 20, "1 MiB"), (1 << 50, "1024 TiB")],
)
def test_a_size_has_three_digits(number: int, text: str) -> None:
    assert size(number) == text


def test_a_part_is_never_all_or_nothing() -> None:
    assert [whole_percent(each) for each in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0%", "less than 1%", "50%", "99%", "100%",
    ]  # fmt: skip


def test_words_fit_their_numbers() -> None:
    assert (counted(1, "step"), counted(0, "step")) == ("1 step", "0 steps")
    assert (step_range(5, 5), step_range(5, 1200)) == ("5", "5\u20131,200")
    assert (listed([]), listed(["a"])) == ("", "a")
    assert between(0.1, 0.2) == "100 ms to 200 ms"


def test_what_reads_the_same_does_not_rise() -> None:
    assert rises(0.010, 0.0103)
    assert not rises(0.010, 0.0101)
    assert not rises(0.010, 0.009)

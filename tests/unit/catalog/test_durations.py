"""How a stretch of time reads, whoever tells it."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.catalog.durations import duration, three_digits


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (4e-5, "40 \u00b5s"),
        (0.0228, "22.8 ms"),
        (1.5, "1.5 s"),
        (59.94, "59.9 s"),
        (3_600.4, "1 h 0 min"),
        (-2.0, "\u22122 s"),
        (float("nan"), "an unknown time"),
    ],
)
def test_two_units_at_most_and_three_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_no_zeros_at_the_end() -> None:
    assert [three_digits(value) for value in (0.5, 12.30, 145.2)] == ["0.5", "12.3", "145"]

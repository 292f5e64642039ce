"""One figure, one value: verdict, sum, cards, and the timeline's saved table of real runs."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import Frame

pytestmark = pytest.mark.browser

RUNS = ("slow_map_stage", "retrace_python_number", "keras_checkpoint")
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
ROUNDED = 0.0051
"""Of a figure with two decimals."""


def seconds(text: str) -> float:
    """A duration as the page writes it: "4 min 2 s", "7.86 s", "0.29 s"."""
    parts = re.findall(r"([\d.,]+) (µs|ms|min|s|h)", text)
    assert parts, text
    return sum(float(number.replace(",", "")) * UNITS[unit] for number, unit in parts)


def shown(frame: Frame) -> dict[str, float]:
    """Title of each part of the sum -> its seconds."""
    found = {}
    for term in frame.locator(".ledger .it").all():
        text = re.search(r"[\d.,]+ s", term.inner_text())
        assert text is not None
        found[term.locator(".nm").inner_text()] = seconds(text[0])
    return found


@pytest.mark.parametrize("run", RUNS)
def test_each_figure_of_a_run_has_one_value(tab: SlowdownPage, run: str) -> None:
    frame = tab.open(run)
    ledger = shown(frame)
    wall = ledger.pop("Run")
    assert sum(ledger.values()) == pytest.approx(wall, abs=ROUNDED * len(ledger))
    lost, of, share = re.findall(r"^(.*) of (.*) lost \((\d+)%\)", tab.headline())[0]
    assert seconds(of) == pytest.approx(wall, abs=ROUNDED)
    assert seconds(lost) == pytest.approx(wall - ledger["Healthy"], abs=2 * ROUNDED)
    assert float(share) == pytest.approx(100 * seconds(lost) / wall, abs=0.6)
    lead = frame.locator(".lead").last.inner_text()
    for name, text in re.findall(r"([A-Z][\w -]+?) cost ([\d.]+ m?s)", lead):
        assert seconds(text) == pytest.approx(ledger[name], abs=ROUNDED), lead
    cards = frame.locator("details.cause")
    for card in cards.all():
        name = card.locator("h3").inner_text()
        assert seconds(card.locator(".num b").inner_text()) == ledger[name], name
        part = float(card.locator(".num").nth(1).inner_text().rstrip("%"))
        assert part == pytest.approx(100 * ledger[name] / wall, abs=0.06 + 100 * ROUNDED / wall)
    # The same seconds once more, from what the timeline draws and saves.
    frame.get_by_role("button", name="As table").click()
    with tab.page.expect_download() as saved:
        frame.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(saved.value.path()).read_text().splitlines()))
    steps = [steps_in(row["Steps"]) for row in rows]
    for name, total in ledger.items():
        column = sum(n * float(row[f"{name} (s)"]) for n, row in zip(steps, rows, strict=True))
        assert column == pytest.approx(total, abs=0.01 * wall + ROUNDED), name


def steps_in(text: str) -> int:
    """How many steps "8-11" are, whatever its dash."""
    first, _, last = re.sub(r"[^\d]+", "-", text.replace(",", "")).partition("-")
    return int(last or first) - int(first) + 1

"""One figure, one value: verdict, sum, bar, cards, tooltips, and the timeline's saved table."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import Frame, Page

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
    for name, (told, part) in titles(frame).items():
        assert told == ledger[name], name
        assert part == pytest.approx(100 * ledger[name] / wall, abs=0.06 + 100 * ROUNDED / wall)
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
    by_steps = {row["Steps"]: row for row in rows}
    pointed = [tooltip(tab.page, frame, share) for share in (0.01, 0.26, 0.51, 0.76, 0.99)]
    for told in pointed:
        row = by_steps[told.steps]
        assert told.mean == pytest.approx(float(row["Mean (s)"]), abs=rounded(told.mean)), told
        for name, part in told.parts.items():
            assert part == pytest.approx(float(row[f"{name} (s)"]), abs=rounded(part)), told
        most = rounded(told.mean) * (1 + len(told.parts))
        assert sum(told.parts.values()) == pytest.approx(told.mean, abs=most), told
    assert len({told.steps for told in pointed}) == len(pointed)


def rounded(step_seconds: float) -> float:
    """Half of the last digit of a step time, as the page writes it."""
    return 0.51 * next(
        digit
        for above, digit in ((0.99, 0.01), (0.0099, 1e-4), (0.00009, 1e-5), (0.0, 1e-7))
        if step_seconds >= above
    )


def titles(frame: Frame) -> dict[str, tuple[float, float]]:
    """Name of each segment of the bar -> seconds and percent in its tooltip."""
    found = {}
    for segment in frame.locator(".where button").all():
        match = re.fullmatch(r"(.+): (.+ s), ([\d.]+)%", segment.get_attribute("title") or "")
        assert match is not None, segment.get_attribute("title")
        found[match[1]] = (seconds(match[2]), float(match[3]))
    assert "Healthy" in found
    return found


@dataclass(frozen=True)
class Tooltip:
    """What the timeline says of the steps under the mouse."""

    steps: str
    mean: float
    parts: dict[str, float]


def tooltip(page: Page, frame: Frame, share: float) -> Tooltip:
    """The tooltip at a share of the timeline's width."""
    plot = frame.locator("sd-timeline .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + 60)
    tip = frame.locator("sd-timeline .tip")
    tip.locator(".sum").wait_for()
    head = tip.locator(".hd span").first.inner_text()
    parts = {}
    for line in tip.locator("div:not(.hd):not(.sum):not(.q)").all():
        name, told = line.locator("span").all_inner_texts()[-2:]
        parts[name] = seconds(told)
    mean = seconds(tip.locator(".sum b").last.inner_text())
    return Tooltip(head.removeprefix("Steps ").removeprefix("Step "), mean, parts)


def steps_in(text: str) -> int:
    """How many steps "8-11" are, whatever its dash."""
    first, _, last = re.sub(r"[^\d]+", "-", text.replace(",", "")).partition("-")
    return int(last or first) - int(first) + 1

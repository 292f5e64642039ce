"""The page of each worker of a real two-worker recording: ledger, causes, timeline, Back."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import TensorBoardProcess
from playwright.sync_api import expect

from tb_slowdown_plugin.records.metadata import worker_run

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

RUN = "team/one_late"
LATE = worker_run(RUN, 1)


@pytest.fixture(scope="module")
def board(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    folder = tmp_path_factory.mktemp("workers")
    logs = folder / "logs"
    shutil.copytree(root / "tests" / "recorded_workers", logs / "team")
    with TensorBoardProcess(["--logdir", str(logs), "--load_fast=true"], folder) as board:
        board.wait_until("both runs are read", lambda: len(board.runs()) == 2)
        yield board


@pytest.fixture
def page(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> Iterator[SlowdownPage]:
    page = open_page(board.url)
    yield page
    assert page.complaints == []


def ledger(page: SlowdownPage) -> str:
    return str(page.frame().locator(".ledger").inner_text())


def test_a_workers_name_opens_its_page_and_back_returns(
    board: TensorBoardProcess, page: SlowdownPage
) -> None:
    frame = page.open(RUN)
    panel = frame.locator("#workers")
    expect(panel.locator("h2 + .note")).to_contain_text("page of worker 0 of 2")
    expect(panel.locator("tbody tr").nth(1)).to_contain_text("the straggler: last in 115 of 116")
    chiefs = ledger(page)
    panel.get_by_role("button", name="Worker 1").click()
    expect(frame.locator("#workers .note")).to_contain_text("page of worker 1 of 2")
    expect(frame.locator(".picker b")).to_have_text(f"{RUN}, worker 1")
    page.wait_address("p.slowdown.run=team%2Fone_late%2Fslowdown%2Fworker-1")
    report = board.slowdown("report", run=LATE).json["runs"][0]
    assert report["run"] == LATE
    assert f"{report['wall_seconds']:.2f}" in ledger(page)
    assert ledger(page) != chiefs
    cards = frame.locator("#causes details.card, #causes details[id^=card-]")
    assert cards.count() >= len(report["causes"])
    timeline = frame.evaluate("document.querySelector('sd-timeline').input.whole.timeline.run")
    assert timeline == LATE
    page.page.go_back()
    expect(frame.locator("#workers .note")).to_contain_text("page of worker 0 of 2")
    assert ledger(page) == chiefs


def test_the_address_of_a_worker_opens_its_page_and_a_wrong_one_says_so(
    board: TensorBoardProcess, page: SlowdownPage
) -> None:
    frame = page.open(LATE)
    expect(frame.locator("#workers .note")).to_contain_text("page of worker 1 of 2")
    frame.locator("#workers").get_by_role("button", name="Worker 0").click()
    expect(frame.locator(".picker b")).to_have_text(RUN)
    refused = board.slowdown("report", run=worker_run(RUN, 7))
    assert refused.status == 404
    assert refused.json["error"] == f"run '{RUN}' has no worker 7 besides its chief"


def test_the_toolbar_chooses_a_worker_by_keyboard(page: SlowdownPage) -> None:
    frame = page.open(RUN)
    chooser = frame.get_by_role("combobox", name="Worker")
    assert chooser.locator("option").all_inner_texts() == ["0", "1, straggler"]
    chooser.focus()
    page.press("1")
    expect(frame.locator(".picker b")).to_have_text(f"{RUN}, worker 1")
    expect(frame.locator("#workers .note")).to_contain_text("page of worker 1 of 2")
    assert chooser.evaluate("one => one === document.activeElement"), "the focus stays"
    assert chooser.input_value() == LATE
    assert page.violations() == []
    page.page.go_back()
    expect(frame.locator(".picker b")).to_have_text(RUN)
    expect(chooser).to_have_value(RUN)


def test_a_shared_report_says_which_worker_it_shows(
    board: TensorBoardProcess, page: SlowdownPage, tmp_path: Path
) -> None:
    for run, worker in ((RUN, 0), (LATE, 1)):
        path = tmp_path / f"{worker}.html"
        path.write_bytes(board.slowdown("report.html", run=run).body)
        page.page.goto(path.as_uri())
        toolbar = page.page.locator(".bar-top .worker")
        expect(toolbar).to_have_text(f"Worker {worker}, one of 2")
        expect(page.page.locator(".made summary")).to_contain_text(
            f"{RUN}, worker {worker}, one of 2 workers, reported on"
        )


def test_a_workers_timeline_zooms_and_its_report_can_be_saved(
    board: TensorBoardProcess, page: SlowdownPage
) -> None:
    page.open(LATE)
    page.drag(0.2, 0.4)
    changed = page.frame().locator("#changed")
    expect(changed).to_contain_text("steps")
    saved = board.slowdown("report.html", run=LATE)
    assert saved.status == 200
    assert f"{RUN}, worker 1".encode() in saved.body

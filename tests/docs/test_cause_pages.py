"""The page of each cause has words, a picture, what measures it, and fixes, all from the code."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from cause_pages import (  # noqa: E402
    STEP_COLUMNS,
    describe,
    list_fixes,
    list_look_alikes,
    module_of,
    write_pages,
)
from cause_pictures import (  # noqa: E402
    colored_accounts,
    read_recording,
    shown_signal,
    write_pictures,
)
from cause_reports import REPORTS  # noqa: E402

from tb_slowdown_plugin.catalog.causes import CAUSES, NAMED, CatalogCause  # noqa: E402
from tb_slowdown_plugin.catalog.collectors import COLLECTORS  # noqa: E402
from tb_slowdown_plugin.catalog.signals import THREAD_CPU  # noqa: E402
from tb_slowdown_plugin.records import types  # noqa: E402

PAGES = write_pages(ROOT)
PICTURES = write_pictures(ROOT)
EACH = pytest.mark.parametrize("cause", [CAUSES[name] for name in NAMED], ids=lambda one: one.id)
MOST_PICTURE_BYTES = 15_000


@EACH
def test_a_cause_says_what_it_is_and_what_helps(cause: CatalogCause) -> None:
    what, looks = describe(module_of(cause))
    assert 20 < len(what) < 500
    assert 20 < len(looks) < 300
    fixes = list_fixes(module_of(cause))
    assert fixes
    page = PAGES[f"causes/{cause.id}.md"]
    assert f"\n# {cause.title}\n" in page
    solid = "".join(page.split())
    assert all("".join(fix.text.split()) in solid for fix in fixes)
    assert f"`tests/programs/{cause.program}.py`" in page


@EACH
def test_a_page_shows_what_the_cause_is_confused_with(cause: CatalogCause) -> None:
    look_alikes = list_look_alikes(module_of(cause))
    assert len(look_alikes) >= 3
    others = {
        name
        for one in look_alikes
        for name in re.findall(r"`(\w+)`", one.partition(":")[0])
        if name in NAMED
    }
    assert others
    assert cause.id not in others
    page = " ".join(PAGES[f"causes/{cause.id}.md"].split())
    assert all(f"[{CAUSES[name].title}]({name}.md)" in page for name in others)


@EACH
def test_a_page_names_what_measures_the_cause(cause: CatalogCause) -> None:
    page = PAGES[f"causes/{cause.id}.md"].partition("## How it is measured")[2]
    for name in cause.seen_by:
        assert COLLECTORS[name].title in page
        for one in (*COLLECTORS[name].events, *(each.name for each in COLLECTORS[name].samples)):
            assert f"`{one}`" in page
    assert "| account |" in page or "No account times it." in page


def test_records_have_what_the_pages_name() -> None:
    assert {field.name for field in dataclasses.fields(types.StepTable)} >= set(STEP_COLUMNS)
    recorded = {
        type(event.what).__name__ if not isinstance(event.what, types.Fact) else event.what.name
        for name in NAMED
        if (run := read_recording(ROOT, CAUSES[name])) is not None
        for event in run.events
    }
    named = {one for collector in COLLECTORS.values() for one in collector.events}
    assert len(named & recorded) >= 12
    code = "".join(path.read_text() for path in (ROOT / "tb_slowdown_plugin").rglob("*.py"))
    assert [one for one in named if not hasattr(types, one) and code.count(f'"{one}"') < 2] == []


@EACH
def test_a_picture_shows_the_cause_in_a_recorded_run(cause: CatalogCause) -> None:
    run = read_recording(ROOT, cause)
    assert run is not None
    colored, below = colored_accounts(cause, run), shown_signal(cause, run)
    assert colored or below or THREAD_CPU in cause.shown
    picture = PICTURES[f"images/causes/{cause.id}.svg"]
    assert len(picture) < MOST_PICTURE_BYTES
    drawing = ET.fromstring(picture)
    kinds = [path.get("class") for path in drawing.iter("{http://www.w3.org/2000/svg}path")]
    assert kinds.count("rest") == kinds.count("part") == 1
    assert "prefers-color-scheme: dark" in picture
    assert f"(../images/causes/{cause.id}.svg)" in PAGES[f"causes/{cause.id}.md"]


def test_each_cause_has_a_page_and_real_reports() -> None:
    assert set(PAGES) == {f"causes/{name}.md" for name in NAMED}
    assert set(REPORTS) == set(NAMED)


def test_pages_and_pictures_are_found_from_the_overview() -> None:
    overview = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in NAMED:
        assert f"(causes/{name}.md)" in overview
        assert f"(docs/causes/{name}.md)" in readme
    written = {path.name for path in (ROOT / "docs" / "causes").iterdir()}
    assert written == {f"{name}.md" for name in NAMED}
    drawn = {path.name for path in (ROOT / "docs" / "images" / "causes").iterdir()}
    assert drawn == {f"{name}.svg" for name in NAMED}


def test_the_menu_is_made_from_the_catalog() -> None:
    from docs_hook import on_config

    config = SimpleNamespace(nav=["index.md", {"Causes": "causes.md"}, {"Commands": "cli.md"}])
    menu = on_config(config).nav
    assert menu[1]["Causes"][0] == {"Overview": "causes.md"}
    assert menu[1]["Causes"][1:] == [f"causes/{one.id}.md" for one in CAUSES.values() if one.asked]
    assert menu[2] == {"Commands": "cli.md"}


def test_no_table_of_causes_is_kept_beside_the_catalog() -> None:
    tree = ast.parse((ROOT / "scripts" / "cause_pages.py").read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not words & set(NAMED)

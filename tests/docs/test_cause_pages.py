"""The page of each cause has words, fixes, and a program, all from where the cause itself is."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from cause_pages import describe, list_fixes, module_of, write_pages  # noqa: E402
from cause_reports import REPORTS  # noqa: E402

from tb_slowdown_plugin.catalog.causes import CAUSES, NAMED, Cause  # noqa: E402

PAGES = write_pages(ROOT)


@pytest.mark.parametrize("cause", [CAUSES[name] for name in NAMED], ids=lambda one: one.id)
def test_a_cause_says_what_it_is_and_what_helps(cause: Cause) -> None:
    what, looks = describe(module_of(cause))
    assert 20 < len(what) < 500
    assert 20 < len(looks) < 300
    fixes = list_fixes(module_of(cause))
    assert fixes
    page = PAGES[f"causes/{cause.id}.md"]
    assert page.startswith(f"# {cause.title}\n")
    solid = "".join(page.split())
    assert all("".join(fix.text.split()) in solid for fix in fixes)
    program = (ROOT / "tests" / "programs" / f"{cause.program}.py").read_text(encoding="utf-8")
    assert f"```python\n{program.rstrip()}\n```" in page


def test_each_cause_has_a_page_and_real_reports() -> None:
    assert set(PAGES) == {f"causes/{name}.md" for name in NAMED}
    assert set(REPORTS) == set(NAMED)


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

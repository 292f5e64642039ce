"""Each cause that can be named has one module that finds it, and nothing else is asked."""

from __future__ import annotations

from pathlib import Path

from tb_slowdown_plugin.analysis.causes.match import ASKED, RULES
from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES, NAMED


def test_each_cause_is_explained_by_the_module_of_its_name() -> None:
    modules = [rule.__module__.split(".")[-2:] for rule in RULES]
    assert modules == [[FAMILIES[one.family].folder, one.id] for one in ASKED]
    assert all(rule.__name__ == "explain" for rule in RULES)
    assert {one.id for one in ASKED} == set(NAMED)


def test_no_module_explains_what_the_catalog_does_not_have(root: Path) -> None:
    folder = root / "tb_slowdown_plugin" / "analysis" / "causes"
    explaining = {
        file.stem
        for file in folder.glob("*/*.py")
        if "\ndef explain(" in file.read_text(encoding="utf-8")
    }
    assert explaining == set(NAMED)


def test_two_causes_are_never_asked_at_once() -> None:
    places = [one.asked for one in CAUSES.values() if one.asked]
    assert len(set(places)) == len(places)
    assert [one.asked for one in ASKED] == sorted(places)

"""The page shows the lines that ran and opens them; nobody else learns of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches import defects
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.report.patches.advice import with_patches
from tb_slowdown_plugin.server.own_lines import is_for, page_body

TEXT = "import gc\n\nfor x in data:\n    step(x)\n    gc.collect()\n    use(x)\n    log(x)\n"


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TBSLOW_EDITOR", raising=False)


def asked(folder: Path, cause: str, line: int) -> dict[str, object]:
    made = Program(folder, TEXT, cause)
    made.saw(Fact("gc_forced", f"train.py:{line}", {"calls": 9.0}))
    report = defects._report(made.cause, Place("train.py", line, ""), (Advice("Remove it."),))
    report = with_patches(report, made.run, folder)
    (told,) = page_body(report, made.run, folder)["runs"][0]["causes"]
    return dict(told)


def test_a_patch_has_its_line_numbers_and_opens_in_the_editor(tmp_path: Path) -> None:
    told = asked(tmp_path, "garbage_collection", 5)
    (advice,) = told["advice"]  # type: ignore[misc]
    assert (advice["kind"], advice["lines"]) == ("patch", [3])
    assert advice["open"] == f"vscode://file{tmp_path}/train.py:5"
    assert told["source"] is None


def test_without_a_patch_the_lines_around_the_place_are_told(tmp_path: Path) -> None:
    told = asked(tmp_path, "python_overhead", 4)
    assert told["source"] == {
        "where": "train.py:4",
        "code": "\n  for x in data:\n      step(x)\n      gc.collect()\n      use(x)",
        "lines": [2],
        "open": f"vscode://file{tmp_path}/train.py:4",
    }


def test_a_file_that_changed_is_not_shown(tmp_path: Path) -> None:
    made = Program(tmp_path, TEXT, "python_overhead")
    made.saw(Fact("gc_forced", "train.py:4", {"calls": 9.0}))
    report = defects._report(made.cause, Place("train.py", 4, ""), ())
    run = made.run
    made.path.write_text(f"{TEXT}more()\n")
    assert page_body(report, run, tmp_path)["runs"][0]["causes"][0]["source"] is None
    assert page_body(report, run, tmp_path / "other")["runs"][0]["causes"][0]["source"] is None


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("off", ""),
        ("idea://open?file={path}&line={line}", "idea://open?file={folder}/train.py&line=4"),
    ],
)
def test_the_editor_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: str, address: str
) -> None:
    monkeypatch.setenv("TBSLOW_EDITOR", template)
    told = asked(tmp_path, "python_overhead", 4)
    assert told["source"]["open"] == address.replace("{folder}", str(tmp_path))  # type: ignore[index]


def test_a_path_is_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "my programs é"
    folder.mkdir()
    told = asked(folder, "python_overhead", 4)
    assert told["source"]["open"].endswith("/my%20programs%20%C3%A9/train.py:4")  # type: ignore[index]


def test_only_browsers_on_this_machine_get_them_by_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [is_for(each) for each in ("127.0.0.1", "::1", "10.0.0.7", "", None)] == [
        True, True, False, False, False,
    ]  # fmt: skip
    monkeypatch.setenv("TBSLOW_EDITOR", "vscode://vscode-remote/ssh-remote+gpu7{path}:{line}")
    assert is_for("10.0.0.7")

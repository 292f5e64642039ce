"""docs/architecture.md names what exists, in the order of the contracts, and its examples work."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from architecture.test_decision_thresholds import find_numbers

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOTS = (ROOT / "tb_slowdown_plugin", ROOT / "frontend" / "src", ROOT)
"""Where the page's paths start."""
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
MADE_BY_READER = {
    "tests/unit/collectors/system/test_open_files.py",
    "tests/unit/analysis/causes/saving/test_file_leak.py",
}
"""Files that the examples ask for: they must not exist yet."""


# -- paths and names -----------------------------------------------------------


def find_references() -> list[tuple[str, str]]:
    """(path, name) of each path in the prose; name "" for a file or a folder alone."""
    prose = FENCE.sub("", TEXT)
    suffix = r"(?:/|\.(?:py|ts|md|txt|toml|proto|yml)|(?<=/)\w+)"
    path = re.compile(rf"(\w[\w.-]*(?:/[\w.-]+)*?{suffix})(?::([\w.]+))?")
    spans = re.findall(r"`([^`\n]+)`", prose)
    found = [match for span in spans if (match := path.fullmatch(span))]
    return sorted({(match[1], match[2] or "") for match in found} - {("account/input_wait", "")})


REFERENCES = find_references()


def place_of(path: str) -> Path | None:
    return next((root / path for root in ROOTS if (root / path).exists()), None)


@cache
def names_in(file: Path) -> frozenset[str]:
    """Functions, methods, classes, and constants that a file defines."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ts":
        top = re.findall(
            r"^(?:export )?(?:async )?(?:function|class|const|interface|type) (\w+)", text, re.M
        )
        names = set(top)
        for part in re.split(r"^(?=(?:export )?class )", text, flags=re.M):
            if owner := re.match(r"(?:export )?class (\w+)", part):
                methods = re.findall(r"^  (?:async |private |get )*#?(\w+)\(", part, re.M)
                names |= {f"{owner[1]}.{method}" for method in methods}
        return frozenset(names)
    return frozenset(_names(ast.parse(text).body, ""))


def _names(body: list[ast.stmt], owner: str) -> set[str]:
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            names |= {owner + node.name, *_names(node.body, f"{owner}{node.name}.")}
        elif isinstance(node, ast.FunctionDef):
            names.add(owner + node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {owner + target.id for target in targets if isinstance(target, ast.Name)}
    return names


def test_the_page_has_references_of_each_kind() -> None:
    assert len(REFERENCES) >= 100
    assert {Path(path).suffix for path, _ in REFERENCES} >= {".py", ".ts", ".md", ""}
    assert sum(bool(name) for _, name in REFERENCES) >= 80
    spans = set(re.findall(r"`([^`\n]+)`", FENCE.sub("", TEXT)))
    # nothing that looks like a file is passed over
    known = {path for path, _ in REFERENCES}
    files = {span.partition(":")[0] for span in spans if re.search(r"\w\.(py|ts)\b", span)}
    assert files <= known


@pytest.mark.parametrize(("path", "name"), REFERENCES)
def test_what_the_page_names_is_there(path: str, name: str) -> None:
    place = place_of(path)
    if path in MADE_BY_READER:
        assert place is None
        return
    assert place is not None, f"there is no {path}"
    if name:
        assert name in names_in(place), f"{path} defines no {name}"


# -- walks ---------------------------------------------------------------------


PLACES = ["measured by", "record", "account", "stage", "cause", "route", "drawn by"]


WALKS = TEXT.partition("## Three walks")[2].partition("\n## ")[0].split("\n### ")[1:]


def test_there_are_three_walks() -> None:
    assert len(WALKS) == 3


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_begins_with_its_places_and_the_test_of_each(walk: str) -> None:
    table, _, steps = walk.partition("| step |")
    rows = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", table, re.MULTILINE)
    assert [what for what, _, _ in rows[1:]] == PLACES
    assert all(re.search(r"`[\w/.]*(?:test_\w+\.py|\.test\.ts)`", test) for _, _, test in rows[1:])
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", steps, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))


# -- stages --------------------------------------------------------------------


def find_stages() -> list[set[str]]:
    """The stages of the analysis in the order of the flow, by the contract."""
    # Python 3.10 has no tomllib; a list of strings is written as in Python.
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contract = settings.partition('name = "Analysis follows the flow"')[2].partition("\n[[")[0]
    layers = re.search(r"^layers = (\[.*?^\])", contract, re.DOTALL | re.MULTILINE)
    assert layers is not None
    return [set(layer.split(" | ")) for layer in reversed(ast.literal_eval(layers[1]))]


def test_the_table_of_stages_is_the_contract() -> None:
    section = TEXT.partition("### Analysis stages")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == find_stages()


def test_the_picture_has_the_stages_in_their_order() -> None:
    picture = FENCE.search(TEXT)
    assert picture is not None
    right = "\n".join(line[45:] for line in picture[3].splitlines())
    analysis = re.search(r"^analysis .*?(?=^reader )", right, re.DOTALL | re.MULTILINE)
    assert analysis is not None
    stages = find_stages()
    drawn = re.findall(r"\w+", analysis[0])[1:]
    for stage in stages:
        assert set(drawn[: len(stage)]) == stage
        drawn = drawn[len(stage) :]
    assert drawn == []


def test_the_picture_has_the_folders_of_the_training_tower() -> None:
    drawn = set(re.findall(r"(\w+)/", FENCE.findall(TEXT)[0][2].partition("event files")[0]))
    for tower in ("writer", "collectors"):
        folders = {path.parent.name for path in (ROOTS[0] / tower).glob("*/__init__.py")}
        assert folders <= drawn, tower


# -- worked examples -----------------------------------------------------------


def blocks_of(heading: str) -> list[tuple[str, str, str]]:
    """(language, file, text) of the blocks below a heading."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return FENCE.findall(section)


def apply(block: tuple[str, str, str], tree: Path) -> None:
    """Does in `tree` what a block shows: a new file, or changes of one."""
    language, name, text = block
    file = tree / name
    if language == "python":
        assert not file.exists(), f"{name} is not new"
        file.write_text(text, encoding="utf-8")
        return
    assert language == "diff"
    whole = file.read_text(encoding="utf-8")
    for hunk in text.split("@@\n"):
        lines = hunk.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
        after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
        assert whole.count(before) == 1, f"{name} has not once:\n{before}"
        whole = whole.replace(before, after)
    file.write_text(whole, encoding="utf-8")


RECORD_A_RUN = """
import sys, tb_slowdown_plugin
from dataclasses import asdict
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.catalog.collectors import COLLECTORS
from tb_slowdown_plugin.collectors import registry
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import assemble
from tb_slowdown_plugin.writer.output.outbox import MemorySink
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder

assert tb_slowdown_plugin.__file__.startswith(sys.argv[1]), tb_slowdown_plugin.__file__
(collector,) = [one for one in registry.create() if one.name == "open_files"]
assert COLLECTORS["open_files"].title == "Open files"
recorder, sink = Recorder(), MemorySink()
session = WriterSession(recorder, sink, "0badcafe", [collector])
session.start()
for step in range(5):
    recorder.begin(step)
    recorder.end()
session.sample()
session.stop()
run = assemble("run1", lambda: [
    Record("run1/slowdown", tag, number, payload)
    for number, (tag, payload) in enumerate(zip(sink.tags, sink.records))
])
assert (run.signals.values["open_files"] > 2).all(), run.signals
account = account_for(run)
assert [one.status for one in account.report.signals if one.signal == "open_files"] == ["measured"]
lanes = {one["signal"]: one for one in timeline(run, account, 0, 4, 100)["signals"]}
assert lanes["open_files"]["title"] == "Files that the process keeps open", lanes
assert not {"tensorflow", "keras"} & set(sys.modules)
"""

DIAGNOSE_A_RUN = """
import runpy, sys
import numpy as np
import tb_slowdown_plugin
from tb_slowdown_plugin.analysis.report_builder.account import account_for

assert tb_slowdown_plugin.__file__.startswith(sys.argv[1]), tb_slowdown_plugin.__file__
make_run = runpy.run_path(sys.argv[2])["make_run"]
slow = np.arange(600) >= 400
sampled = np.arange(0, 600, 10)
seconds = 0.010 + 0.010 * slow + 1e-4 * np.random.default_rng(1).random(600)

def report_with(open_files):
    run = make_run(seconds, signals={"open_files": open_files}, signal_rows=sampled)
    return account_for(run).report

report = report_with(np.where(sampled >= 400, 5000.0, 20.0))
assert [cause.cause for cause in report.causes] == ["file_leak"], report
assert 1.8 < report.causes[0].lost_seconds < 2.2, report.causes
assert report.causes[0].steps[0] in range(398, 403) and report.verdict == "slowdown"
assert "files that stay open" in report.headline, report.headline
assert report_with(np.full(len(sampled), 20.0)).causes == ()
"""


TELL_A_CAUSE = """
import sys
sys.path.append("scripts")
from cause_pages import describe, list_fixes, module_of
from tb_slowdown_plugin.catalog.causes import CAUSES

module = module_of(CAUSES["file_leak"])
print(*describe(module), *(fix.text for fix in list_fixes(module)), sep="\\n")
"""
TOLD = (
    "The program opens files and doesn't close them.",
    "Steps get slower while the number of open files climbs.",
    "Close each file (`with open(path) as file:`).",
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples change, copied."""
    copy = tmp_path_factory.mktemp("tree")
    skipped = shutil.ignore_patterns("__pycache__", "static", "tests")
    for name in ("tb_slowdown_plugin", "frontend/src/catalog", "frontend/src/styles"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    scripts = [
        f"scripts/{name}"
        for name in (
            "generate_catalog",
            "cause_pages.py",
            "cause_pictures.py",
            "cause_reports.py",
        )
    ]
    for name in (*scripts, "docs/overhead.md", "docs/causes.md", "README.md"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    return copy


def run(tree: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def generated(tree: Path) -> str:
    run(tree, "scripts/generate_catalog")
    return (tree / "frontend/src/catalog/tables.ts").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def with_signal(tree: Path) -> Path:
    for block in blocks_of("Add a sampled signal"):
        apply(block, tree)
    return tree


def test_the_counts_of_places_are_those_of_the_examples() -> None:
    for heading, blocks, also in (("Add a sampled signal", 2, 1), ("Add a cause", 2, 4)):
        section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        shown = blocks_of(heading)
        assert len(shown) == len({name for _, name, _ in shown}) == blocks
        rows = re.findall(r"^\| (.*) \| .* \|$", section, re.MULTILINE)
        needed = [row for row in rows if row != "also" and not row.startswith("optional")]
        assert len(needed) == also
        assert f"takes {blocks + also} places" in " ".join(section.split())


def test_a_signal_is_added_as_the_example_shows(with_signal: Path) -> None:
    tables = generated(with_signal)
    assert tables.count('  open_files: "Open files",') == 2  # the collector and its signal
    costs = (with_signal / "docs/overhead.md").read_text(encoding="utf-8")
    assert "| `open_files` | not measured |" in costs
    assert "| `tracing` | 2.5 per call |" in costs
    run(with_signal, "-c", RECORD_A_RUN, str(with_signal))


def test_a_cause_is_added_as_the_example_shows(with_signal: Path) -> None:
    for block in blocks_of("Add a cause"):
        apply(block, with_signal)
    module = with_signal / "tb_slowdown_plugin/analysis/causes/saving/file_leak.py"
    assert list(find_numbers(module)) == []
    tables = generated(with_signal)
    assert '  ["file_leak", "Fl", "File leak", "saving", "back"],' in tables
    assert '  file_leak: ["open_files"],' in tables
    readme = (with_signal / "README.md").read_text(encoding="utf-8")
    assert "[File leak](docs/causes/file_leak.md) (`file_leak`)" in readme
    overview = (with_signal / "docs/causes.md").read_text(encoding="utf-8")
    assert "| [File leak](causes/file_leak.md) (`file_leak`) | `file_leak` |" in overview
    page = (with_signal / "docs/causes/file_leak.md").read_text(encoding="utf-8")
    assert all(one in page for one in ("`open_files`", TOLD[2], "[Disk](disk.md)"))
    assert run(with_signal, "-c", TELL_A_CAUSE) == "\n".join((*TOLD, ""))
    helpers = ROOT / "tests" / "unit" / "analysis" / "conftest.py"
    run(with_signal, "-c", DIAGNOSE_A_RUN, str(with_signal), str(helpers))

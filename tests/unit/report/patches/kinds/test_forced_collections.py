"""`gc.collect()` in a loop is removed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.records.types import Fact


def program(folder: Path, text: str, line: int, **numbers: float) -> Program:
    made = Program(folder, text, "garbage_collection")
    return made.saw(Fact("gc_forced", f"train.py:{line}", {"calls": 40.0, **numbers}))


def test_the_line_goes(tmp_path: Path) -> None:
    made = program(tmp_path, "for x in data:\n    step(x)\n    gc.collect()  # memory\n", 3)
    assert made.patched() == "for x in data:\n    step(x)\n"


def test_an_if_that_would_be_empty_goes_too(tmp_path: Path) -> None:
    text = "for i in data:\n    step(i)\n    if i % 10 == 0:\n        gc.collect()\n    use(i)\n"
    assert program(tmp_path, text, 4).patched() == "for i in data:\n    step(i)\n    use(i)\n"


@pytest.mark.parametrize(
    "text",
    [
        "for i in data:\n    if due():\n        gc.collect()\n",
        "for i in data:\n    if i:\n        gc.collect()\n    else:\n        step(i)\n",
        "for i in data:\n    if i:\n        a()\n    elif i > 2:\n        gc.collect()\n",
        "class C:\n    def on_batch(self):\n        gc.collect()\n",
    ],
)
def test_what_must_stay_gets_a_pass(tmp_path: Path, text: str) -> None:
    line = text[: text.index("gc.")].count("\n") + 1
    assert program(tmp_path, text, line).patched() == text.replace("gc.collect()", "pass")


@pytest.mark.parametrize(
    "line", ["freed = gc.collect()", "gc.collect(0)", "step(i); gc.collect()", "gc.collect(); a()"]
)
def test_what_is_used_or_shares_its_line_is_left_alone(tmp_path: Path, line: str) -> None:
    made = program(tmp_path, f"for i in data:\n    step(i)\n    {line}\n", 3)
    assert made.refusals()


def test_clear_session_is_left_alone(tmp_path: Path) -> None:
    made = program(tmp_path, "for i in d:\n    a()\n    k.clear_session()\n", 3, clear_session=1.0)
    assert made.refusals() == ""


@pytest.mark.parametrize("switch", ["gc.disable()", "gc.set_threshold(0)"])
@pytest.mark.parametrize(
    ("loop", "counter"),
    [
        ("for i in range(9):", "i"),
        ("for n, (x, y) in enumerate(data):", "n"),
        ("for n, x in enumerate(data, 1):", ""),
        ("for x in data:", ""),
        ("while data:", ""),
        ("for i in range(9):\n    i = 2 * i", ""),
        ("for i in range(9):\n    if i > 3:\n        a()", "i"),
    ],
)
def test_what_python_does_not_collect_is_collected_at_times(
    tmp_path: Path, switch: str, loop: str, counter: str
) -> None:
    text = f"{switch}\n{loop}\n    step(x)\n    gc.collect()  # ä\n"
    made = program(tmp_path, text, text.count("\n"))
    if counter:
        new = f"    if {counter} % 100 == 99:\n        gc.collect()  # ä\n"
        assert made.patched() == text.replace("    gc.collect()  # ä\n", new)
    else:
        assert "the loop has no counter" in made.refusals()

from dataclasses import replace

import pytest

from tb_slowdown_plugin.analysis.report_types.observations import (
    Annotation,
    PythonLine,
    PythonLines,
)
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.formats.markdown import to_markdown
from tb_slowdown_plugin.report.formats.program_lines import (
    describe_annotations,
    describe_python,
    python_title,
)
from tb_slowdown_plugin.report.text_report import to_text

GREW = (
    "sample (agent.py:88): in 5 of 40 samples, later in 405 of 900; about 3.1 ms of a step, later "
    "22 ms"
)


@pytest.fixture
def told(slow: Report) -> Report:
    grown = PythonLine("sample (agent.py:88)", "agent.py:88", 0.12, 0.45, 0.0031, 0.022)
    others = [
        PythonLine(f"f{each} (b.py:{each})", "", 0.1, 0.1, 0.002, 0.004) for each in (1, 2, 3)
    ]
    python = PythonLines((1, 20), 40, (12_000, 12_344), 900, (grown, *others))
    notes = (Annotation(400, 400, "learning rate / 10"), Annotation(1200, 1200, "new `shard` *7*"))
    return replace(slow, python=python, annotations=notes)


def test_the_lines_that_grew_most_are_short(told: Report) -> None:
    assert python_title(told) == (
        "Python lines of the training thread, sampled in steps 1\u201320 and in steps "
        "12,000\u201312,344"
    )
    assert describe_python(told) == [
        GREW,
        "f1 (b.py:1): in 4 of 40 samples, later in 90 of 900; about 2 ms of a step, later 4 ms",
        "f2 (b.py:2): in 4 of 40 samples, later in 90 of 900; about 2 ms of a step, later 4 ms",
    ]


def test_one_set_of_samples_has_no_before(told: Report) -> None:
    assert told.python is not None
    line = replace(told.python.lines[0], before_fraction=None, before_seconds=None)
    once = replace(told, python=replace(told.python, before_steps=None, lines=(line,)))
    assert python_title(once) == (
        "Python lines of the training thread, sampled in steps 12,000\u201312,344"
    )
    assert describe_python(once) == [
        "sample (agent.py:88): in 405 of 900 samples; about 22 ms of a step"
    ]


def test_a_run_that_is_not_slow_needs_no_lines(told: Report, slow: Report) -> None:
    for report in (replace(told, verdict="healthy"), slow):
        assert python_title(report) == ""
        assert describe_python(report) == []


def test_of_many_notes_the_first_are_listed(told: Report) -> None:
    assert describe_annotations(told) == [
        "Step 400: learning rate / 10",
        "Step 1,200: new `shard` *7*",
    ]
    many = tuple(Annotation(each, each, f"note {each}") for each in range(1, 13))
    assert describe_annotations(replace(told, annotations=many))[-2:] == [
        "Step 10: note 10",
        "2 more notes on the page and in the JSON",
    ]
    assert len(describe_annotations(replace(told, annotations=many[:10]))) == 10


def test_text_and_markdown_have_both(told: Report) -> None:
    text = to_text([told], width=100)
    assert """
Python lines of the training thread, sampled in steps 1\u201320 and in steps 12,000\u201312,344
   - sample (agent.py:88): in 5 of 40 samples, later in 405 of 900; about 3.1 ms of a step, later 22
     ms
""" in text  # fmt: skip
    assert """
Notes of the program
   - Step 400: learning rate / 10
   - Step 1,200: new `shard` *7*
""" in text  # fmt: skip
    assert max(map(len, to_text([told], width=60).splitlines())) <= 78, "code is never wrapped"
    markdown = to_markdown([told])
    assert "### Notes of the program\n\n- Step 400: learning rate / 10\n" in markdown
    assert "- Step 1,200: new \\`shard\\` \\*7\\*\n" in markdown
    assert f"- {GREW}\n" in markdown

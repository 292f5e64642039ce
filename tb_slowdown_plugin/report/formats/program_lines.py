"""What text and Markdown say of the program's own notes and lines, a line each."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.report_types.observations import PythonLine, PythonLines
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import count, counted, duration, step_range

_MOST_NOTES: Final = 10
_MOST_LINES: Final = 3
"""The page and the JSON have all of them."""

NOTES_TITLE: Final = "Notes of the program"


def describe_annotations(report: Report) -> list[str]:
    """The notes that the program wrote on its steps, the first ones.

    Returns:
      Lines such as "Step 400: learning rate / 10"; none where there is no note.
    """
    notes = report.annotations
    lines = [f"Step {note.step:,}: {note.text}" for note in notes[:_MOST_NOTES]]
    more = len(notes) - len(lines)
    return [*lines, f"{counted(more, 'more note')} on the page and in the JSON"] if more else lines


def python_title(report: Report) -> str:
    """What the lines of `describe_python` are of; "" where there are none."""
    found = report.python
    if found is None or report.verdict != "slowdown":
        return ""
    after = f"steps {step_range(*found.after_steps)}"
    if found.before_steps is None:
        return f"Python lines of the training thread, sampled in {after}"
    before = f"steps {step_range(*found.before_steps)}"
    return f"Python lines of the training thread, sampled in {before} and in {after}"


def describe_python(report: Report) -> list[str]:
    """The lines of the program that a step grew most in, where a run got slow.

    Returns:
      Lines such as "sample (agent.py:88): in 5 of 40 samples, later in 9 of 20; about 3.1 ms of a
      step, later 22 ms".
    """
    found = report.python
    if found is None or report.verdict != "slowdown":
        return []
    return [_line(line, found) for line in found.lines[:_MOST_LINES]]


def _line(line: PythonLine, of: PythonLines) -> str:
    """With the samples, so that one sees how few they may be."""
    seen = _of(line.after_fraction, of.after_samples)
    took = duration(line.after_seconds)
    if line.before_fraction is None or line.before_seconds is None:
        return f"{line.place}: in {seen} samples; about {took} of a step"
    before = _of(line.before_fraction, of.before_samples)
    return (
        f"{line.place}: in {before} samples, later in {seen}; about "
        f"{duration(line.before_seconds)} of a step, later {took}"
    )


def _of(fraction: float, samples: int) -> str:
    return f"{count(fraction * samples)} of {count(samples)}"

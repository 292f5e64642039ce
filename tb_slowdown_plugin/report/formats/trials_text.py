"""What `tbslow try` has found, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tb_slowdown_plugin.analysis.text.trial_text import describe_speedup, is_uncertain
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.experiments import PATCH, Experiment
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.report.ansi import Ink, printable

_INDENT = "   "
_CHANGES = {"no": "no", "numerics": "yes, by rounding", "yes": "yes"}


def list_text(experiments: Sequence[Experiment], *, width: int, colour: bool) -> str:
    """One line for each experiment that there is."""
    ink = Ink(colour)
    column = max(len(each.name) for each in experiments) + 2
    lines = []
    for each in experiments:
        first, *more = textwrap.wrap(each.does, width - column)
        lines.append(ink.strong(each.name) + " " * (column - len(each.name)) + first)
        lines += [" " * column + line for line in more]
    return "\n".join(lines) + "\n"


def trials_text(
    trials: Sequence[Trial], untried: Sequence[tuple[str, str]], *, width: int, colour: bool
) -> str:
    """One paragraph for each experiment.

    Args:
      trials: Those with a result.
      untried: Name and reason of the others.
      width: Columns; code is never wrapped.
      colour: With ANSI colors, for a terminal.
    """
    ink = Ink(colour)
    lines = [line for trial in trials for line in (*_trial(trial, width, ink), "")]
    for name, reason in untried:
        text = printable(f"{name}: not tried: {reason}.")
        lines += textwrap.wrap(text, width, subsequent_indent=_INDENT)
    return "\n".join(lines).rstrip("\n") + "\n"


def _trial(trial: Trial, width: int, ink: Ink) -> Iterator[str]:
    before, after = map(duration, trial.step_seconds)
    yield f"{ink.strong(trial.experiment)}: {describe_speedup(trial.speedup, trial.interval)}"
    sentences = [f"From {before} to {after} per step."]
    if is_uncertain(trial.interval):
        sentences.append("More --repeats, or a quieter machine, would tell.")
    if trial.confirms is not None:
        sentences.append(f"This confirms {cause_title(trial.confirms)}.")
    sentences.append(f"Changes the results of training: {_CHANGES[trial.changes_results]}.")
    yield from textwrap.wrap(
        " ".join(sentences), width, initial_indent=_INDENT, subsequent_indent=_INDENT
    )
    if trial.interval[0] <= 1:
        return
    is_patch = trial.experiment.startswith(PATCH)
    yield f"{_INDENT}Patch, as tbslow fix has it:" if is_patch else f"{_INDENT}Example:"
    for line in trial.adopt.splitlines():
        yield _INDENT * 2 + ink.code(printable(line), line[:1] if is_patch else "+")

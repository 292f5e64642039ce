"""The runs of a watch as one screen of a terminal, and as plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.jobs.watch import RunLook
from tb_slowdown_plugin.report.ansi import printable

_STYLES: Final = {
    "healthy": "green",
    "slow_start": "yellow",
    "slowdown": "red",
    "not_enough_steps": "yellow",
}
_FRAME_LINES: Final = 9
"""Lines of a screen that hold no run: title, heading, what is said of one run."""
_MIN_NAME: Final = 12
_MAX_NAME: Final = 40
"""Columns of a run's name; a fourth of the terminal between those."""
_MAX_CAUSES: Final = 3
"""Causes of a run that are named, those of most seconds first."""
_UNKNOWN: Final = "\u2013"


class Screen:
    """A renderable of `rich`: a table of runs, and the first one's headline and fix.

    Args:
      looks: The runs.
      logdir: As the user gave it.
      now: Unix seconds.
      trouble: Why the logdir could not be read, "" where it could.
      messages: Lines for the foot of the screen.
      is_whole: Show all runs, not only those that fit on the screen.
    """

    def __init__(
        self,
        looks: Sequence[RunLook],
        logdir: str,
        now: float,
        trouble: str = "",
        *,
        messages: Sequence[str] = (),
        is_whole: bool = False,
    ) -> None:
        self._looks = looks
        self._logdir = logdir
        self._now = now
        self._trouble = trouble
        self._messages = messages
        self._is_whole = is_whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What `rich` draws, for the size that the terminal has now."""
        height = options.height or console.height
        room = max(1, height - _FRAME_LINES - len(self._messages))
        if self._is_whole:
            room = len(self._looks)
        live = sum(look.is_live for look in self._looks)
        clock = time.strftime("%H:%M:%S", time.localtime(self._now))
        runs = counted(len(self._looks), "run")
        head = Text(printable(f"{self._logdir}  {runs}, {live} live  {clock}"), style="bold")
        parts: list[Text | Table] = [head]
        if self._trouble:
            parts.append(Text(printable(self._trouble), style="yellow"))
        if self._looks:
            parts.append(_table(self._looks[:room], options.max_width))
            if len(self._looks) > room:
                parts.append(Text(f"and {len(self._looks) - room} more", style="dim"))
            parts.extend(_details(self._looks[0]))
        elif not self._trouble:
            parts.append(Text("No runs with slowdown data yet."))
        parts.extend(Text(printable(line), style="yellow") for line in self._messages)
        yield Group(*parts)


def _table(looks: Sequence[RunLook], width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    shown = [column for column in _COLUMNS if width >= column.least_width]
    for column in shown:
        table.add_column(
            column.title,
            justify=column.justify,
            no_wrap=True,
            overflow="ellipsis",
            ratio=column.ratio,
            max_width=max(_MIN_NAME, min(_MAX_NAME, width // 4)) if column is _RUN else None,
        )
    for look in looks:
        table.add_row(*(column.cell(look) for column in shown))
    return table


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table."""

    title: str
    cell: Callable[[RunLook], Text]
    least_width: int = 0
    """Columns of a terminal from which there is room for it."""
    ratio: int | None = None
    """Columns with one share what the others leave."""
    justify: Literal["left", "right"] = "left"


def _details(look: RunLook) -> list[Text]:
    """The headline and the first fix of one run."""
    report = look.report
    lines = [Text(printable(f"{look.title}: {report.headline}"))]
    if report.confirming is not None:
        lines.append(Text(printable(report.confirming.text), style="yellow"))
    if look.is_live and report.remaining is not None:
        lines.append(Text(printable(report.remaining.text)))
    fix = _fix(_first_cause(report))
    if fix:
        lines.append(Text(printable(f"Fix: {fix}")))
    return lines


def plain_line(look: RunLook) -> str:
    """One run in one line, for a log or a pipe."""
    report = look.report
    parts = [f"step {_step(report)}", f"{_per_step(report)} per step", _state(look)]
    left = report.remaining.text if look.is_live and report.remaining is not None else ""
    return printable(f"{look.title}: {', '.join(parts)}. {report.headline} {left}".rstrip())


def _first_cause(report: Report) -> Cause | None:
    """What costs most; None where there is no slowdown, or where most of it is unexplained."""
    if report.verdict not in ("slowdown", "slow_start"):
        return None
    later = [cause for cause in report.causes if cause.pattern != "warm_up"]
    found = next(iter(later or report.causes), None)
    is_small = found is not None and report.unexplained_seconds > found.lost_seconds
    return None if is_small else found


def _fix(cause: Cause | None) -> str:
    return cause.advice[0].text if cause is not None and cause.advice else ""


def _lost_to(report: Report) -> str:
    if report.verdict not in ("slowdown", "slow_start"):
        return report.verdict.replace("_", " ").capitalize()
    lost = [(seconds, cause) for cause, seconds in report.lost_by_cause().items()]
    lost.append((report.unexplained_seconds, "unexplained"))
    ranked = sorted((each for each in lost if each[0] > 0.0), reverse=True)[:_MAX_CAUSES]
    return ", ".join(f"{cause_title(cause)} {duration(seconds)}" for seconds, cause in ranked)


def _step(report: Report) -> str:
    return f"{report.as_of.step:,}" if report.as_of is not None else _UNKNOWN


def _per_step(report: Report) -> str:
    return _seconds(report.recent.seconds if report.recent is not None else None)


def _seconds(seconds: float | None) -> str:
    return duration(seconds) if seconds is not None else _UNKNOWN


def _state(look: RunLook) -> str:
    if not look.is_live:
        return "ended" if look.report.ended else "silent"
    return "stalled" if look.is_stalled else "live"


def _left(look: RunLook) -> Text:
    left = look.report.remaining
    return Text(duration(left.seconds) if look.is_live and left is not None else "")


def _state_cell(look: RunLook) -> Text:
    return Text(_state(look), "bold red" * look.is_stalled)


def _lost(look: RunLook) -> Text:
    report = look.report
    return Text(percent(report.lost_fraction), _STYLES.get(report.verdict, ""))


def _since(look: RunLook) -> Text:
    cause = _first_cause(look.report)
    return Text(f"step {cause.steps[0]:,}" if cause is not None else "")


_RUN: Final = _Column("Run", lambda look: Text(printable(look.title)))
_COLUMNS: Final = (
    _RUN,
    _Column("State", _state_cell),
    _Column("Step", lambda look: Text(_step(look.report)), 60, justify="right"),
    _Column("Per step", lambda look: Text(_per_step(look.report)), 60, justify="right"),
    _Column(
        "Baseline",
        lambda look: Text(_seconds(look.report.healthy_step_seconds)),
        100,
        justify="right",
    ),
    _Column("Lost", _lost, justify="right"),
    _Column("Left", _left, 100, justify="right"),
    _Column("Since", _since, 60, justify="right"),
    _Column(
        "Lost to",
        lambda look: Text(_lost_to(look.report), _STYLES.get(look.report.verdict, "")),
        ratio=2,
    ),
    _Column("Fix", lambda look: Text(printable(_fix(_first_cause(look.report)))), 150, ratio=3),
)

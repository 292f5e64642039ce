"""The runs of a watch as one screen of a terminal, and as plain lines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.analysis.types import Cause, Report
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.jobs.watch import RunLook
from tb_slowdown_plugin.report.ansi import printable

_STYLES: Final = {
    "healthy": "green",
    "slow_start": "yellow",
    "slowdown": "red",
    "not_enough_steps": "yellow",
}
_FRAME_LINES: Final = 8
"""Lines of a screen that hold no run: title, heading, the headline and fix of the first one."""
_MAX_NAME: Final = 40
_UNKNOWN: Final = "\u2013"


class Screen:
    """A renderable of `rich`: as many runs as fit, and the first one's headline and fix.

    Args:
      looks: The runs.
      logdir: As the user gave it.
      now: Unix seconds.
      trouble: Why the logdir could not be read, "" where it could.
    """

    def __init__(
        self, looks: Sequence[RunLook], logdir: str, now: float, trouble: str = ""
    ) -> None:
        self._looks = looks
        self._logdir = logdir
        self._now = now
        self._trouble = trouble

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What `rich` draws, for the size that the terminal has now."""
        room = max(1, (options.height or console.height) - _FRAME_LINES)
        live = sum(look.is_live for look in self._looks)
        clock = time.strftime("%H:%M:%S", time.localtime(self._now))
        runs = counted(len(self._looks), "run")
        head = Text(printable(f"{self._logdir}  {runs}, {live} live  {clock}"), style="bold")
        parts: list[Text | Table] = [head]
        if self._trouble:
            parts.append(Text(printable(self._trouble), style="yellow"))
        if self._looks:
            parts.append(_table(self._looks[:room]))
            if len(self._looks) > room:
                parts.append(Text(f"and {len(self._looks) - room} more", style="dim"))
            parts.extend(_details(self._looks[0]))
        elif not self._trouble:
            parts.append(Text("No runs with slowdown data yet."))
        yield Group(*parts)


def _table(looks: Sequence[RunLook]) -> Table:
    table = Table(box=None, expand=True, pad_edge=False, header_style="dim")
    table.add_column("Run", no_wrap=True, overflow="ellipsis", max_width=_MAX_NAME)
    table.add_column("Step", justify="right", no_wrap=True)
    table.add_column("Per step", justify="right", no_wrap=True)
    table.add_column("Lost", justify="right", no_wrap=True)
    table.add_column("Biggest cause", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("State", no_wrap=True)
    for look in looks:
        report = look.report
        style = _STYLES.get(report.verdict, "")
        table.add_row(
            Text(printable(look.title)),
            _step(report),
            _per_step(report),
            Text(percent(report.lost_fraction), style=style),
            Text(printable(_biggest(report)), style=style),
            Text(_state(look), style="bold red" if _state(look) == "stalled" else ""),
        )
    return table


def _details(look: RunLook) -> list[Text]:
    """The headline and the first fix of one run."""
    report = look.report
    lines = [Text(printable(f"{look.title}: {report.headline}"))]
    if report.confirming is not None:
        lines.append(Text(printable(report.confirming.text), style="yellow"))
    cause = _first_cause(report)
    if cause is not None and cause.advice:
        lines.append(Text(printable(f"Fix: {cause.advice[0].text}")))
    return lines


def plain_line(look: RunLook) -> str:
    """One run in one line, for a log or a pipe."""
    report = look.report
    parts = [f"step {_step(report)}", f"{_per_step(report)} per step", _state(look)]
    return printable(f"{look.title}: {', '.join(parts)}. {report.headline}")


def _first_cause(report: Report) -> Cause | None:
    later = [cause for cause in report.causes if cause.pattern != "warm_up"]
    return next(iter(later or report.causes), None)


def _biggest(report: Report) -> str:
    if report.verdict not in ("slowdown", "slow_start"):
        return report.verdict.replace("_", " ").capitalize()
    cause = _first_cause(report)
    if cause is None or report.unexplained_seconds > cause.lost_seconds:
        return f"{cause_title('unexplained')}, {duration(report.unexplained_seconds)}"
    lost = f"{cause_title(cause.cause)}, {duration(cause.lost_seconds)}"
    return f"{lost} since step {cause.steps[0]:,}"


def _step(report: Report) -> str:
    return f"{report.as_of.step:,}" if report.as_of is not None else _UNKNOWN


def _per_step(report: Report) -> str:
    return duration(report.recent.seconds) if report.recent is not None else _UNKNOWN


def _state(look: RunLook) -> str:
    if not look.is_live:
        return "ended"
    stall = look.report.stall
    return "stalled" if stall is not None and stall.account is None else "live"

"""`tbslow fleet`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import Final

from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.cli.output import TerminalLine, ink_of, tell, write
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.collecting import Wish, collect, find_runs
from tb_slowdown_plugin.jobs.fleet.executors import DaskPool, Pool, ProcessPool
from tb_slowdown_plugin.report.fleet.summary import FleetSummary, summarize
from tb_slowdown_plugin.report.fleet.summary_page import summary_html
from tb_slowdown_plugin.report.fleet.summary_text import summary_json, summary_text
from tb_slowdown_plugin.report.fleet.tables import (
    import_extra,
    read_tables,
    since_date,
    write_tables,
)

_CELLS: Final = 20
_EVERY_SECONDS: Final = 0.2


def fleet(chosen: Namespace) -> int:
    """Judges all runs of some logdirs; returns the exit status."""
    if chosen.format == "html" and sys.stdout.isatty():
        raise InputError("HTML output needs a file: redirect it with > fleet.html")
    import_extra("pyarrow")
    output: str | None = chosen.output
    previous = read_tables(output) if output else None
    wish = Wish(chosen.logdirs, _since(chosen.since))
    runs = find_runs(wish, tell)
    with RunsBar(sys.stderr) as bar:
        tables = collect(
            runs,
            previous,
            _pool(chosen, bar),
            chosen.memory_limit,
            team=chosen.team,
            progress=bar.update,
            save=lambda made: write_tables(made, output) if output else None,
        )
    if output:
        write_tables(tables, output)
    write(_text(summarize(tables), chosen.format), None)
    return 0


def _pool(chosen: Namespace, bar: RunsBar) -> Pool:
    if not chosen.scheduler:
        return ProcessPool(chosen.workers, chosen.memory_limit)
    if chosen.workers:
        raise InputError("--workers is for processes of this machine; leave it out, or --scheduler")
    return DaskPool(chosen.scheduler, import_extra("distributed"), bar.tell)


def _since(text: str | None) -> float | None:
    try:
        return since_date(text) if text else None
    except ValueError as error:
        raise InputError(f"--since {text!r}: expected a date such as 2026-11-01") from error


def _text(summary: FleetSummary, form: str) -> str:
    if form == "json":
        return summary_json(summary) + "\n"
    if form == "html":
        return summary_html(summary, made=time.time())
    width, colour = ink_of(None)
    return summary_text(summary, width=width, colour=colour)


class RunsBar(TerminalLine):
    """A bar of the runs that are judged."""

    _next = 0.0

    def update(self, done: int, total: int) -> None:
        """`done` of `total` runs are judged."""
        now = self._clock()
        if not self._stream.isatty() or now < self._next or not total:
            return
        self._next = now + _EVERY_SECONDS
        full = _CELLS * done // total
        left = f", {duration((now - self._began) / done * (total - done))} left" if done else ""
        self.draw(f"{'█' * full}{'─' * (_CELLS - full)} {done:,} of {total:,} runs{left}")

    def tell(self, sentence: str) -> None:
        """A line on stderr, above the bar."""
        self.wipe()
        tell(sentence)

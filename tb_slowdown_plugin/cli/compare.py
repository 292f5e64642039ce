"""`tbslow compare`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path

from tb_slowdown_plugin.analysis.account import account_for
from tb_slowdown_plugin.analysis.comparison import compare, exceeds
from tb_slowdown_plugin.analysis.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.cli.output import TOO_SLOW, ink_of, refuse_pages_on_terminals, tell, write
from tb_slowdown_plugin.cli.progress import ProgressLine
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.report.comparison import comparison_json, comparison_text
from tb_slowdown_plugin.report.comparison_html import comparison_html


def compare_runs(chosen: Namespace) -> int:
    """Compares two groups of runs; returns the exit status."""
    refuse_pages_on_terminals(chosen)
    base, other = _sides(chosen)
    twice = next((run for run in base if run in other), None)
    if twice is not None:
        raise InputError(f"'{twice}' is on both sides; give another run to compare it with")
    warnings: list[str] = []
    with ProgressLine(sys.stderr) as progress:
        ledgers = [[_read(run, warnings, progress) for run in side] for side in (base, other)]
    for warning in warnings:
        tell(warning)
    comparison = compare(*ledgers)
    if chosen.format == "json":
        text = comparison_json(comparison) + "\n"
    elif chosen.format == "html":
        text = comparison_html(comparison, made=time.time())
    else:
        width, colour = ink_of(chosen.output)
        text = comparison_text(comparison, width=width, colour=colour)
    write(text, chosen.output)
    limit = chosen.fail_over
    return TOO_SLOW if limit is not None and exceeds(comparison, limit) else 0


def _sides(chosen: Namespace) -> tuple[list[str], list[str]]:
    runs: list[str] = chosen.runs
    if runs and (chosen.base or chosen.other):
        raise InputError(
            f"'{runs[0]}' stands beside --base and --with; give two runs alone, or all after flags"
        )
    if len(runs) == 2:
        return runs[:1], runs[1:]
    if runs or not (chosen.base and chosen.other):
        given = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}" if runs else "no two sides"
        raise InputError(f"{given} to compare; give two, or repeats as --base A1 A2 --with B1 B2")
    return chosen.base, chosen.other


def _read(place: str, warnings: list[str], progress: ProgressLine) -> RunLedger:
    logdir, name = _split(place)
    found = None
    others = []
    for run in read_runs(logdir, run=name, warn=warnings.append, progress=progress.update):
        if found is not None:
            others.append(run.name)
            continue
        if not len(run.steps):
            raise InputError(f"run '{place}' has no step yet; compare runs that have some")
        found = ledger_of(run, account_for(run), name=place)
    assert found is not None  # read_runs raises where there is none
    if others:
        raise InputError(
            f"'{place}' holds {1 + len(others)} runs; name one, as in '{logdir}:{others[-1]}'"
        )
    return found


def _split(place: str) -> tuple[str, str | None]:
    """The logdir and the run in `LOGDIR` or `LOGDIR:RUN`; a directory that exists is a logdir."""
    logdir, colon, run = place.rpartition(":")
    if not colon or not logdir or run.startswith("//") or Path(place).expanduser().exists():
        return place, None
    return logdir, run

"""`tbslow compare`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path

from tb_slowdown_plugin.analysis.compare.comparison import compare, exceeds
from tb_slowdown_plugin.analysis.compare.run_ledger import (
    RunLedger,
    ledger_of,
    with_hyperparameters,
)
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.cli.output import (
    TOO_SLOW,
    ProgressLine,
    ink_of,
    refuse_pages_on_terminals,
    tell,
    write,
)
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.hyperparameters import read_hyperparameters
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.report.comparison import (
    comparison_html,
    comparison_json,
    comparison_text,
)


def compare_runs(chosen: Namespace) -> int:
    """Compares two groups of runs; returns the exit status."""
    refuse_pages_on_terminals(chosen)
    base, other = _sides(chosen)
    warnings: list[str] = []
    with ProgressLine(sys.stderr) as progress:
        sides = [
            [side for place in places for side in _read(place, warnings, progress)]
            for places in (base, other)
        ]
    _refuse_twice(*sides)
    for warning in warnings:
        tell(warning)
    comparison = compare(*([run.ledger for run in side] for side in sides))
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
            f"'{runs[0]}' can't be combined with --base and --with; give two runs alone, or all "
            "after flags"
        )
    if len(runs) == 2:
        return runs[:1], runs[1:]
    if runs or not (chosen.base and chosen.other):
        given = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}" if runs else "nothing"
        raise InputError(f"{given} to compare; give two, or repeats as --base A1 A2 --with B1 B2")
    return chosen.base, chosen.other


@dataclass(frozen=True, slots=True)
class _Side:
    """A run of one side."""

    ledger: RunLedger
    lies: str
    """Where its records are, however it was called."""


def _read(place: str, warnings: list[str], progress: ProgressLine) -> list[_Side]:
    """The run in a place, or all of them: the runs of a logdir are repeats."""
    logdir, name = _split(place)
    found = []
    runs = 0
    for run in read_runs(logdir, run=name, warn=warnings.append, progress=progress.update):
        runs += 1
        if not len(run.steps):
            warnings.append(f"run '{run.name}' of '{logdir}' has no step yet; it is left out")
            continue
        ledger = ledger_of(run, account_for(run))
        if "://" not in logdir:
            logged = read_hyperparameters(Path(logdir).expanduser(), run.name)
            ledger = with_hyperparameters(ledger, logged)
        found.append(_Side(ledger, _place_of(logdir, run.name)))
    if not found:
        raise InputError(f"run '{place}' has no step yet; compare runs that have some")
    if runs == 1:
        return [replace(found[0], ledger=replace(found[0].ledger, run=place))]
    return [
        replace(side, ledger=replace(side.ledger, run=f"{logdir}:{side.ledger.run}"))
        for side in found
    ]


def _place_of(logdir: str, run: str) -> str:
    return f"{logdir}/{run}" if "://" in logdir else str(Path(logdir, run).expanduser().resolve())


def _refuse_twice(base: list[_Side], other: list[_Side]) -> None:
    """A run that counts twice would make chance look small."""
    for side in (base, other):
        seen: set[str] = set()
        for run in side:
            if run.lies in seen:
                raise InputError(f"'{run.ledger.run}' is given twice; a run counts once")
            seen.add(run.lies)
    both = {run.lies for run in base} & {run.lies for run in other}
    for run in other:
        if run.lies in both:
            raise InputError(
                f"'{run.ledger.run}' is on both sides; give another run to compare it with"
            )


def _split(place: str) -> tuple[str, str | None]:
    """The logdir and the run in `LOGDIR` or `LOGDIR:RUN`; a directory that exists is a logdir."""
    logdir, colon, run = place.rpartition(":")
    if not colon or not logdir or run.startswith("//") or Path(place).expanduser().exists():
        return place, None
    return logdir, run

"""One plain function a route: the runs and the request's parameters to the answer's body.

`http_api.md` documents each of them.

What a step of each run costs, for comparisons; made once an analysis.

A run as a page in one file, made when somebody asks for it in the tab.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from tb_slowdown_plugin.analysis.compare.comparison import compare as compare_ledgers
from tb_slowdown_plugin.analysis.compare.run_ledger import (
    RunLedger,
    ledger_of,
    with_hyperparameters,
)
from tb_slowdown_plugin.analysis.compare.side_by_side import put_side_by_side
from tb_slowdown_plugin.analysis.views.range_comparison import changed as changed_body
from tb_slowdown_plugin.analysis.views.timeline import timeline as timeline_body
from tb_slowdown_plugin.report.embedded_answers import embed
from tb_slowdown_plugin.report.html_page import to_html
from tb_slowdown_plugin.report.json_body import (
    Body,
    comparison_body,
    report_body,
    side_by_side_body,
)
from tb_slowdown_plugin.report.patches.advice import with_patches
from tb_slowdown_plugin.report.text_report import to_text
from tb_slowdown_plugin.server.analyses.analysis import Analysis
from tb_slowdown_plugin.server.own_lines import page_body
from tb_slowdown_plugin.server.params import ParameterError, names, shown, text, whole
from tb_slowdown_plugin.server.runs import Runs
from tb_slowdown_plugin.server.timeline_tiles import TimelineTiles

Parameters: TypeAlias = Mapping[str, str]

Route: TypeAlias = Callable[[Runs, Parameters], Body]

_BUCKETS: Final = 800

_LEAST_BUCKETS: Final = 10

_MOST_BUCKETS: Final = 2000
"""About one a pixel of a wide screen; 2,000 make an answer of about 200 KB."""

_MOST_COMPARED: Final = 20
"""Runs a side: a request must not analyse a whole logdir."""

_WIDE_ROWS: Final = 50_000
"""More rows take longer to reduce than to send."""

_GRID_BITS: Final = 6
"""A wide range is widened by 1/32 of itself at each end, at most."""

_WIDE_AT_ONCE: Final = threading.Semaphore(4)
"""More threads would only take turns at Python's lock and at the memory, so that the first of
twenty wide answers comes as late as the last, and a narrow one between them (docs/scale.md)."""

_MOST_LEDGERS: Final = 1_000
"""About 1 KB each; making one of 1,000,000 steps takes 30 to 60 ms."""


class Ledgers:
    """Ledgers by analysis, for many threads; the oldest are dropped."""

    def __init__(self, most: int = _MOST_LEDGERS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, RunLedger] = OrderedDict()

    def of(self, analysis: Analysis) -> RunLedger:
        """The ledger of a run.

        Raises:
          ParameterError: The run has no step.
        """
        with self._lock:
            kept = self._kept.get(analysis.number)
        if kept is not None:
            return kept
        if not len(analysis.run.steps):
            raise ParameterError(
                f"run {shown(analysis.run.name)} has no step yet; compare runs that have some"
            )
        made = ledger_of(analysis.run, analysis.account)
        with self._lock:
            self._kept[analysis.number] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


_TILES: Final = TimelineTiles()

_LEDGERS: Final = Ledgers()
"""Keyed by analysis, of which each in this process has a number of its own."""


def all_runs(runs: Runs, parameters: Parameters) -> Body:
    """What was found in each run so far, or what has come since the last answer."""
    return runs.all_runs(whole(parameters, "since", 0, least=0), parameters.get("store", ""))


def capture(runs: Runs, parameters: Parameters) -> Body:
    """Where the time of the steps in a capture went, or of some of them."""
    run = runs.analysis(text(parameters, "run")).run
    window = None
    if "first" in parameters:
        first = whole(parameters, "first", 0, least=0)
        window = (first, whole(parameters, "last", first, least=first))
    host = text(parameters, "host") if "host" in parameters else None
    return runs.captures.capture(run, text(parameters, "capture"), host, window)


def captures(runs: Runs, parameters: Parameters) -> Body:
    """Which profiler captures there are of a run, and what each adds."""
    return runs.captures.listing(runs.first_look(text(parameters, "run")).run)


def changed(runs: Runs, parameters: Parameters) -> Body:
    """What differs in a range of rows from the stretch before it."""
    analysis = runs.first_look(text(parameters, "run"))
    rows = len(analysis.run.steps)
    if rows == 0:
        raise ParameterError("the run has no step yet; there is nothing to compare")
    first, last = _rows_asked(parameters, rows)
    with _turn(last - first):
        return changed_body(analysis.run, analysis.account, first, last)


def compare(runs: Runs, parameters: Parameters) -> Body:
    """What differs between two groups of runs by more than chance."""
    base = names(parameters, "base", most=_MOST_COMPARED)
    other = names(parameters, "runs", most=_MOST_COMPARED)
    given = [*base, *other]
    twice = next((name for i, name in enumerate(given) if name in given[:i]), None)
    if twice is not None:
        raise ParameterError(f"run {shown(twice)} is given twice; a run counts once")
    return comparison_body(compare_ledgers(_ledgers(runs, base), _ledgers(runs, other)))


def side_by_side(runs: Runs, parameters: Parameters) -> Body:
    """Several runs in columns, each against the first."""
    given = names(parameters, "runs", most=_MOST_COMPARED)
    if len({*given}) < max(2, len(given)):
        raise ParameterError("parameter 'runs' must have two runs or more, each once")
    return side_by_side_body(put_side_by_side(_ledgers(runs, given)))


def _ledgers(runs: Runs, given: Sequence[str]) -> list[RunLedger]:
    ledgers = [_LEDGERS.of(runs.analysis(name)) for name in given]
    logged = runs.hyperparameters(given)
    return [with_hyperparameters(*each) for each in zip(ledgers, logged, strict=True)]


def compare_captures(runs: Runs, parameters: Parameters) -> Body:
    """What a step of a slow capture does that one of a fast capture did not."""
    run = runs.analysis(text(parameters, "run")).run
    return runs.captures.comparison(run, text(parameters, "fast"), text(parameters, "slow"))


def report(runs: Runs, parameters: Parameters) -> Body:
    """What was found in one run: verdict, causes, advice."""
    analysis = runs.first_look(text(parameters, "run"))
    patched = with_patches(analysis.account.report, analysis.run, Path())
    if "editor" in parameters:
        return page_body(patched, analysis.run, Path())
    return report_body([patched])


def progress(runs: Runs, parameters: Parameters) -> Body:
    """How much of a run has been read, for who waits for its report; never waits itself."""
    return {"read_fraction": runs.progress(text(parameters, "run"))}


def retraces(runs: Runs, parameters: Parameters) -> Body:
    """Which functions were traced again, why, and what it cost."""
    return runs.first_look(text(parameters, "run")).retraces


def run_list(runs: Runs, _: Parameters) -> Body:
    """Which runs there are, and how far each has come."""
    return {
        "runs": [asdict(summary) for summary in runs.summaries()],
        "other_runs": runs.listing().other_runs,
    }


def timeline(runs: Runs, parameters: Parameters) -> Body:
    """Step times, causes and marks of a range of rows, reduced to what a screen can show."""
    analysis = runs.first_look(text(parameters, "run"))
    first, last = _rows_asked(parameters, len(analysis.run.steps))
    buckets = whole(parameters, "buckets", _BUCKETS, least=_LEAST_BUCKETS, most=_MOST_BUCKETS)
    unranged = _TILES.unranged(analysis)
    if last - first <= _WIDE_ROWS:
        return timeline_body(analysis.run, analysis.account, first, last, buckets, None, unranged)
    with _WIDE_AT_ONCE:
        columns = _TILES.columns(analysis, first, last, buckets)
        first, last = columns.first, columns.last
        signals = _TILES.signals(analysis, first, last, buckets)
        return timeline_body(
            analysis.run, analysis.account, first, last, buckets, columns, unranged, signals
        )


def on_grid(runs: Runs, parameters: Parameters) -> Parameters:
    """The parameters of a timeline, a wide range in them widened to rows of a grid.

    Ranges that differ by a few pixels then have the same answer, which is made once.
    """
    end = len(runs.first_look(text(parameters, "run")).run.steps)
    first, last = _rows_asked(parameters, end)
    rows = last + 1 - first
    if rows <= _WIDE_ROWS:
        return parameters
    grid = 1 << (rows.bit_length() - _GRID_BITS)
    first, last = first // grid * grid, min(-(-(last + 1) // grid) * grid, end) - 1
    return {**parameters, "first": str(first), "last": str(last)}


def _rows_asked(parameters: Parameters, rows: int) -> tuple[int, int]:
    """First and last row that are asked for, of so many."""
    end = max(rows - 1, 0)
    first = whole(parameters, "first", 0, least=0, most=end)
    last = whole(parameters, "last", end, least=0)
    if last < first:
        raise ParameterError(f"parameter 'last' is {last}; it must be at least 'first', {first}")
    return first, min(last, end)


ROUTES: Final[Mapping[str, Route]] = MappingProxyType(
    {
        "/runs": run_list,
        "/all_runs": all_runs,
        "/report": report,
        "/progress": progress,
        "/timeline": timeline,
        "/changed": changed,
        "/compare": compare,
        "/side_by_side": side_by_side,
        "/retraces": retraces,
        "/captures": captures,
        "/capture": capture,
        "/compare_captures": compare_captures,
    }
)

SETTLED: Final[Mapping[str, Callable[[Runs, Parameters], Parameters]]] = MappingProxyType(
    {"/timeline": on_grid}
)
"""Routes whose parameters are settled before they are answered: which stand for the same."""

SAME_FOR_ALL: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "/report": ("editor",),
        "/timeline": ("first", "last", "buckets"),
        "/changed": ("first", "last"),
        "/retraces": (),
    }
)
"""Routes whose answer is the same while the analysis of the run is, with the other parameters
that it depends on: each is made once, however many ask."""


def _turn(rows: int) -> AbstractContextManager[object]:
    """To be held while so many rows are reduced."""
    return _WIDE_AT_ONCE if rows > _WIDE_ROWS else nullcontext()


class SharedPages:
    """Makes what `tbslow report --format html` writes; safe for many threads.

    One page at a time: of 1,000,000 steps it takes 4 s on a busy machine, and many may
    ask at once.

    Args:
      bundle: The built frontend in one module, which stands in the page.
      clock: Unix seconds.
    """

    def __init__(self, bundle: Path, clock: Callable[[], float] = time.time) -> None:
        self._bundle = bundle
        self._clock = clock
        self._making = threading.Lock()

    def of(self, analysis: Analysis, title: str) -> str:
        """The page of one run, as far as it has come, under the name that a person knows.

        Raises:
          InputError: The frontend is not built, or the run does not fit into a page.
        """
        with self._making:
            run = embed(analysis.run, analysis.account, title=title)
            text = to_text([replace(analysis.account.report, run=title)])
            return to_html([run], text=text, made=self._clock(), bundle=self._bundle)

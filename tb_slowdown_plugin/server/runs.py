"""The runs of a logdir and what was found in each, kept until more of it can be read."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from tb_slowdown_plugin.analysis.live.hysteresis import LiveState
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.reader.extent import Extent, extent_of
from tb_slowdown_plugin.reader.run_store import Listing, Seen
from tb_slowdown_plugin.reader.trials import read_trials, trials_version
from tb_slowdown_plugin.reader.worker_run import run_of_worker
from tb_slowdown_plugin.records.metadata import run_name, run_title
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import (
    Body,
)
from tb_slowdown_plugin.server.all_runs.verdicts import Verdicts
from tb_slowdown_plugin.server.analyses.analysis import (
    Analysis,
    Follow,
    RunSource,
    UnknownRunError,
)
from tb_slowdown_plugin.server.analyses.first_looks import FirstLooks
from tb_slowdown_plugin.server.analyses.incremental import (
    GrowingAccount,
    Pace,
)
from tb_slowdown_plugin.server.cache import Kept
from tb_slowdown_plugin.server.captures import Captures
from tb_slowdown_plugin.server.params import shown

_LISTING_SECONDS: Final = 1.0
"""TensorBoard itself looks for new records every 5 s; asking it costs up to 50 ms."""
_LISTING_REST: Final = 10.0
"""Times as long as listing took it is not done again: it takes longer with each record kept,
0.1 s for a run of 10,000,000 steps."""
_MOST_ROWS: Final = 4_000_000
"""Rows of analysed runs that are kept: about 1 GB of accounts."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the list of runs says of one; the keys of the JSON are these fields."""

    run: str
    title: str
    """What a person calls it: another name than `run` where it lies at the top of the logdir."""
    workers: int
    steps: int
    first_step: int | None
    last_step: int | None
    started: float
    """Unix seconds."""
    reported: float
    """Unix seconds."""
    live: bool
    verdict: str | None
    """Of the newest analysis at hand; `None` until it has been judged."""
    lost_fraction: float | None
    source: Literal["records", "scalars"] = "records"
    """Whether the monitor recorded it, or its steps are drawn from ordinary scalars."""


class Runs:
    """The runs of a logdir, each analysed when it is first asked for.

    Args:
      source: Where runs are read.
      follow: Says where the time of a run went, and takes and hands back what is to
        be known at the next look, while the run still grows (`analysis/live/follow.py`).
      logdir: Where profiler captures are looked for; None where there is no single one.
      verdicts: Judges all runs in the background.
      clock: Unix seconds.
    """

    def __init__(
        self,
        source: RunSource,
        follow: Follow,
        *,
        logdir: str | None = None,
        verdicts: Verdicts | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._verdicts = verdicts or Verdicts(source.run, logdir=logdir)
        self.captures: Final = Captures(logdir)
        self._logdir = logdir
        self._source = source
        self._follow = follow
        self._pace = Pace(clock)
        self._live_states: dict[str, LiveState] = {}
        self._clock = clock
        self._listing_lock = threading.Lock()
        self._listing: Listing | None = None
        self._listed_at = 0.0
        self._listing_rest = 0.0
        self._analyses = Kept(self._analyse, _rows, _MOST_ROWS)
        self._continued = Kept(self._continue, _rows, _MOST_ROWS)
        self._first_looks = FirstLooks(self._first_part, follow, self.analysis, _MOST_ROWS)
        self._preparing = threading.Lock()
        self._extents_lock = threading.Lock()
        self._extents: Mapping[str, tuple[Hashable, Extent]] = {}

    def listing(self) -> Listing:
        """The runs that there are, about a second old at most."""
        with self._listing_lock:
            now = self._clock()
            fresh = 0.0 <= now - self._listed_at < self._listing_rest
            if self._listing is None or not fresh:
                self._listing = self._source.listing()
                self._listed_at = self._clock()
                took = self._listed_at - now
                self._listing_rest = max(_LISTING_SECONDS, _LISTING_REST * took)
                runs = self._listing.runs
                kept = {*runs, *(n for n in list(self._live_states) if run_name(n)[0] in runs)}
                self._analyses.keep_only(kept)
                self._continued.keep_only(kept)
                self._first_looks.keep_only(kept)
                self._pace.keep_only(kept)
                for name in self._live_states.keys() - kept:
                    self._live_states.pop(name, None)
            return self._listing

    def prepare(self) -> None:
        """Lists and measures the runs in the background: whoever opens the tab asks soon."""
        if self._preparing.acquire(blocking=False):
            threading.Thread(target=self._prepare, name="tbslow-list", daemon=True).start()

    def _prepare(self) -> None:
        with contextlib.suppress(Exception):  # the request for the list says what is wrong
            self._measure(self.listing().runs)
        self._preparing.release()

    def summaries(self) -> list[Summary]:
        """What there is of each run; one that can't be read has no steps."""
        now = self._clock()
        runs = self.listing().runs
        extents = self._measure(runs)
        return [self._summary(name, extents[name][1], seen, now) for name, seen in runs.items()]

    def all_runs(self, since: int, store: str) -> Body:
        """What was found in each run: see `Verdicts.body`. Asking has them judged."""
        now = self._clock()
        self._verdicts.follow(self.listing().runs, lambda seen: seen.is_recent(now))
        return self._verdicts.body(since, store)

    def hyperparameters(self, names: Sequence[str]) -> list[Mapping[str, str | float | bool]]:
        """What the programs of some runs logged of them."""
        found = self._verdicts.hyperparameters(names)
        return [found.get(name, {}) for name in names]

    def first_look(self, name: str) -> Analysis:
        """What was found in a run, or in its first part while the rest of a long one is read.

        The rest is read and analyzed in the background.

        Raises:
          UnknownRunError: There is no such run.
        """
        seen = self._seen(name)
        if seen is None or self._analyses.newest(name) is not None:
            return self.analysis(name)
        look = self._first_looks.of(name, seen.version)
        is_read = self.progress(name) is None
        return self.analysis(name) if look is None or is_read else look

    def analysis(self, name: str) -> Analysis:
        """What was found in a run; its newest steps may be booked as those before them.

        The name may be that of one of its workers: `records.metadata.worker_run`.

        A run that grows is not analysed at every look: see `incremental.py`. Between two
        analyses its account is carried on: see `analysis/live/follow.py`.

        Raises:
          UnknownRunError: There is no such run.
        """
        seen = self._seen(name)
        if seen is None:
            raise UnknownRunError(
                f"no run {shown(name)} with slowdown data; the route 'runs' lists those there are"
            )
        is_live = seen.is_recent(self._clock())
        found = self._analyses.newest(name) if is_live else None
        is_resting = self._pace.rests(name)
        is_urgent = found is not None and is_resting and self._is_urgent(found, seen)
        if is_urgent:
            is_resting = self._pace.rests(name, is_urgent=True)
        if found is None or not is_resting:
            # That a run has ended is news, too: everything is confirmed then.
            patient = not (is_live and self._pace.is_long(name, is_urgent=is_urgent))
            version = (seen.version, is_live, self._trials_version(name))
            found = self._analyses.get(name, version, patient=patient)
        if not is_live or found.growing is None or found.version == seen.version:
            return found
        carried = self._continued.get(name, (seen.version, found.number))
        # While another thread carries this analysis on, there is one of the analysis before.
        return carried if carried.account.report is found.account.report else found

    def _is_urgent(self, found: Analysis, seen: Seen) -> bool:
        """Whether a live run has more than the usual to say since it was analyzed."""
        if found.version == seen.version or found.growing is None:
            return False
        if found.account.report.confirming is not None:
            return True
        return found.growing.has_news(self._read(found.run.name))

    def progress(self, name: str) -> float | None:
        """Share of a run's records that is read, from the first one until all are, else None."""
        return self._source.progress(run_name(name)[0] if run_name(name)[1] else name)

    def title(self, name: str) -> str:
        """What a person calls a run."""
        return run_title(name, self._logdir)

    def _trials_version(self, name: str) -> Hashable:
        return trials_version(Path(self._logdir), name) if self._logdir else None

    def _seen(self, name: str) -> Seen | None:
        """What is listed of a run, or of the run of a worker."""
        run, worker = run_name(name)
        return self.listing().runs.get(run if worker else name)

    def _read(self, name: str) -> Run:
        run, worker = run_name(name)
        with _told_if_gone(name):
            found = self._source.run(run)
        of_worker = run_of_worker(found, worker) if worker else found
        if of_worker is None:
            raise UnknownRunError(f"run {shown(run)} has no worker {worker} besides its chief")
        return of_worker

    def _first_part(self, name: str) -> Run | None:
        run, worker = run_name(name)
        with _told_if_gone(name):
            part = self._source.first_part(run)
        return run_of_worker(part, worker) if part is not None and worker else part

    def _analyse(self, name: str) -> Analysis:
        with self._pace.timing(name):
            seen = self._seen(name)
            run = self._read(name)
            if run.drawn_from is None and not run_name(name)[1]:
                trials = read_trials(Path(self._logdir), name) if self._logdir else ()
                run = replace(run, captured=self.captures.captured(run), trials=trials)
            is_live = seen is not None and seen.is_recent(self._clock()) and not run.is_ended
            account, state = self._follow(run, self._live_states.get(name) if is_live else None)
            self._live_states[name] = state
            older = self._analyses.newest(name)
            if is_live and older is not None and _is_behind(run, account, older):
                return older
            # Rows of a run from scalars are drawn anew at each reading.
            is_carried = is_live and run.drawn_from is None
            growing = GrowingAccount(run, account) if is_carried else None
            account = growing.account if growing else account
            version = seen.version if seen is not None else None
            self._first_looks.drop(name)
            return Analysis(run, account, retraces(run), version, growing)

    def _continue(self, name: str) -> Analysis:
        found = self._analyses.newest(name)
        if found is None or found.growing is None:  # dropped, or ended, a moment ago
            return self._analyse(name)
        run = self._read(name)
        if not found.growing.grow(run) or found.growing.account is found.account:
            return found
        return Analysis(run, found.growing.account, found.retraces)

    def _measure(self, runs: Mapping[str, Seen]) -> Mapping[str, tuple[Hashable, Extent]]:
        """Run -> the version of it that was measured, and how far it has come."""
        with self._extents_lock:
            known = self._extents
            changed = [
                name
                for name, seen in runs.items()
                if name not in known or known[name][0] != seen.version
            ]
            found = self._source.extents(changed) if changed else {}
            fresh = {name: (runs[name].version, found.get(name, _UNREADABLE)) for name in changed}
            self._extents = {name: fresh.get(name) or known[name] for name in runs}
            return self._extents

    def _summary(self, name: str, extent: Extent, seen: Seen, now: float) -> Summary:
        found = self._analyses.newest(name)
        if seen.source == "scalars" and found is not None:
            extent = extent_of(found.run)  # its points have been read meanwhile
        row = self._verdicts.row(name)
        report = found.account.report if found else row.digest if row else None
        plain = asdict(extent)
        is_ended = plain.pop("is_ended")
        return Summary(
            run=name,
            source=seen.source,
            title=self.title(name),
            reported=seen.reported,
            live=seen.is_recent(now) and not is_ended,
            verdict=report.verdict if report else None,
            lost_fraction=report.lost_fraction if report else None,
            **plain,
        )


_UNREADABLE: Final = Extent(1, 0, None, None, math.nan)


def _is_behind(run: Run, account: RunAccount, older: Analysis) -> bool:
    """Whether an older analysis of the same run had come further.

    So it is while the first record of the chief comes after those of other workers.
    """
    known = {session.id for each in (run, *run.workers) for session in each.sessions}
    is_same = any(session.id in known for session in older.run.sessions)
    return is_same and account.report.wall_seconds < older.account.report.wall_seconds


def _rows(analysis: Analysis) -> int:
    return analysis.rows


@contextlib.contextmanager
def _told_if_gone(name: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:  # it went away after it was listed
        raise UnknownRunError(f"run {shown(name)} is gone") from error

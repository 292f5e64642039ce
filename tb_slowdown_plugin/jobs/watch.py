"""Looks at a logdir again and again: the report of each run as it is now.

A look costs what is new: records are read once, and a run is analyzed again when it has grown,
at most as often as takes 5% of a core (`server/analyses/incremental.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.provider import GrowingLogdir
from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.analyses.incremental import REST
from tb_slowdown_plugin.server.runs import Runs

EVERY_SECONDS: Final = 5.0
"""Usual time between two looks."""


@dataclass(frozen=True, slots=True)
class RunLook:
    """One run at one look."""

    title: str
    """What a person calls it."""
    report: Report
    is_live: bool
    """Whether it was written to in the last minute, and its monitor wasn't stopped."""
    reported: float
    """Unix seconds at which its newest record was written."""

    @property
    def is_stalled(self) -> bool:
        """Whether no step ends, for no reason that is known work, such as a save."""
        stall = self.report.stall
        return self.is_live and stall is not None and stall.account is None


class LogdirSource(Protocol):
    """What can be reloaded: `GrowingLogdir`, or a test's."""

    provider: object

    def reload(self) -> None:
        """Reads what was written since the last call."""


class Watch:
    """Follows all runs of a logdir, those that begin later included.

    Args:
      logdir: A directory, or an address that TensorBoard reads.
      clock: Unix seconds.
      open_source: Opens the logdir.
    """

    def __init__(
        self,
        logdir: str,
        *,
        clock: Callable[[], float] = time.time,
        open_source: Callable[[str], LogdirSource] = GrowingLogdir,
    ) -> None:
        is_local = "://" not in logdir
        self._logdir = str(Path(logdir).expanduser()) if is_local else logdir
        self._is_local = is_local
        self._clock = clock
        self._open_source = open_source
        self._source: LogdirSource | None = None
        self._runs: Runs | None = None
        self._looks: dict[str, tuple[object, RunLook]] = {}
        self._took = 0.0
        self.rest_seconds = EVERY_SECONDS
        """Seconds until the next look is due."""

    def look(self) -> list[RunLook]:
        """All runs as they are now: live ones first, of those the stalled and the slow ones.

        Raises:
          InputError: The logdir can't be read now; it may be back at the next look.
        """
        began = time.monotonic()
        try:
            found = self._look()
        except InputError:
            self._close()
            raise
        except Exception as error:  # each filesystem has exceptions of its own
            self._close()
            reason = str(error) or type(error).__name__
            raise InputError(f"can't read '{self._logdir}': {reason}") from error
        finally:
            before, self._took = self._took, time.monotonic() - began
            # The first look reads everything, and one long look is no rule.
            self.rest_seconds = max(EVERY_SECONDS, REST * min(before, self._took))
        return found

    def _look(self) -> list[RunLook]:
        if self._is_local and not Path(self._logdir).is_dir():
            raise InputError(f"no such directory: '{self._logdir}'")
        if self._source is None:
            self._source = self._open_source(self._logdir)
            store = RunStore(self._source.provider, self._logdir)
            self._runs = Runs(
                store, follow, logdir=self._logdir if self._is_local else None,
                clock=self._clock,
            )  # fmt: skip
        assert self._runs is not None
        self._source.reload()
        now = self._clock()
        listed = self._runs.listing().runs
        self._looks = {name: look for name, look in self._looks.items() if name in listed}
        for name, seen in listed.items():
            is_recent = seen.is_recent(now)
            version = (seen.version, is_recent)
            known = self._looks.get(name)
            if known is not None and known[0] == version and not known[1].is_live:
                continue
            try:
                report = self._runs.analysis(name).account.report
            except UnknownRunError:
                continue
            is_live = is_recent and not report.ended
            look = RunLook(self._runs.title(name), report, is_live, seen.reported)
            self._looks[name] = (version, look)
        return sorted((look for _, look in self._looks.values()), key=rank)

    def _close(self) -> None:
        self._source = self._runs = None
        self._looks = {}


def rank(look: RunLook) -> tuple[object, ...]:
    """An order in which rows keep their places while nothing changes; ended runs: newest first."""
    if not look.is_live:
        return True, -look.reported, look.title
    return False, not look.is_stalled, look.report.verdict != "slowdown", look.title

"""What can be said of a long run before all of it is read."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass

from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.server.analyses.analysis import Analysis, Follow
from tb_slowdown_plugin.server.cache import Kept


@dataclass(frozen=True, slots=True)
class _FirstLook:
    analysis: Analysis | None
    """Of the first part; None where all of the run is read as soon."""


class FirstLooks:
    """Analyses of the first parts of long runs, for many threads.

    Args:
      read: The first part of a run, or of a worker of it; None if all of it is read.
      follow: Says where the time of a run went.
      finish: Reads and analyzes the rest of a run; called in a thread of its own.
      most_rows: What is kept of them together.
    """

    def __init__(
        self,
        read: Callable[[str], Run | None],
        follow: Follow,
        finish: Callable[[str], object],
        most_rows: int,
    ) -> None:
        self._read = read
        self._follow = follow
        self._finish = finish
        self._kept = Kept(self._look, _weight, most_rows)

    def of(self, name: str, version: Hashable) -> Analysis | None:
        """The look at a run, or at a worker of it; None where all of it was read.

        Args:
          name: Of the run.
          version: How far it has come.
        """
        return self._kept.get(name, version).analysis

    def drop(self, name: str) -> None:
        """Forget a run: all of it is analyzed."""
        self._kept.drop(name)

    def keep_only(self, names: Container[str]) -> None:
        """Forget runs that are gone."""
        self._kept.keep_only(names)

    def _look(self, name: str) -> _FirstLook:
        part = self._read(name)
        if part is None:
            return _FirstLook(None)
        older = self._kept.newest(name)
        if older is not None and older.analysis is not None:  # only what is not read has grown
            return older
        account, _ = self._follow(part, None)
        threading.Thread(
            target=self._read_rest, args=(name,), name="tbslow-rest", daemon=True
        ).start()
        return _FirstLook(Analysis(part, account, retraces(part)))

    def _read_rest(self, name: str) -> None:
        with contextlib.suppress(Exception):  # who asks next is told what is wrong
            self._finish(name)


def _weight(look: _FirstLook) -> int:
    return 0 if look.analysis is None else look.analysis.rows

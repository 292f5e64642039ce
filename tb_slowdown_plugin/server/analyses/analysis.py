"""A run as it was read and analyzed, and where runs come from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tb_slowdown_plugin.analysis.live.hysteresis import LiveState
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.errors import SlowdownError
from tb_slowdown_plugin.reader.extent import Extent
from tb_slowdown_plugin.reader.run_store import Listing
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import Body
from tb_slowdown_plugin.server.analyses.incremental import GrowingAccount

_numbers = itertools.count()

Follow: TypeAlias = Callable[[Run, LiveState | None], tuple[RunAccount, LiveState]]
"""Says where the time of a run went: `analysis/live/follow.py`."""


class UnknownRunError(SlowdownError):
    """There is no slowdown data under the name of a run."""


class RunSource(Protocol):
    """Where runs come from, called from several threads: a `reader.run_store.RunStore`."""

    def listing(self) -> Listing:
        """The runs that there are now."""

    def extents(self, names: Iterable[str]) -> Mapping[str, Extent]:
        """How far some of those runs have come; without those that can't be read."""

    def run(self, name: str) -> Run:
        """All that can be read of a run now.

        Raises:
          KeyError: There is no such run.
        """

    def first_part(self, name: str) -> Run | None:
        """What comes first in a run that takes long to read; None if all of it is read.

        Raises:
          KeyError: There is no such run.
        """

    def progress(self, name: str) -> float | None:
        """Share of a run's records that is read, from the first one until all are, else None."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A run, where its time went, and its retraces: 0.2 s of work if there are 20,000."""

    run: Run
    account: RunAccount
    retraces: Body
    version: Hashable = None
    """How far the run had come at least: `Seen.version`."""
    growing: GrowingAccount | None = None
    """Of a run that still runs: what carries its account on."""
    number: int = field(default_factory=_numbers.__next__)
    """Another one for each analysis of this process."""

    @property
    def rows(self) -> int:
        """Rows of its steps."""
        return len(self.run.steps)

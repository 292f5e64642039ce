"""The table of all runs: each is judged in the background, once for each of its versions."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

from tb_slowdown_plugin.reader.run_store import Hyperparameters, Seen
from tb_slowdown_plugin.reader.trials import trials_version
from tb_slowdown_plugin.report.json_body import Body
from tb_slowdown_plugin.report.run_digest import RunDigest
from tb_slowdown_plugin.server.all_runs.judge_process import (
    Judged,
    JudgeProcess,
    Task,
    Unjudged,
    unjudgeable,
)
from tb_slowdown_plugin.server.all_runs.kept_rows import KeptRows
from tb_slowdown_plugin.server.analyses.incremental import REST

_MOST_PROCESSES: Final = 4
_REST_SECONDS: Final = 20.0
"""A live run grows every few seconds; its row need not."""
_LINGER_SECONDS: Final = 30.0
"""So long a process is kept that has nothing to do."""
_KEEP_SECONDS: Final = 5.0


class Judge(Protocol):
    """Judges one run at a time: a `JudgeProcess`."""

    def judge(self, task: Task) -> Judged:
        """Blocks until the run is judged."""

    def close(self) -> object:
        """Gives back what it holds."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """What was found in one run."""

    version: str
    digest: RunDigest | None
    error: str
    """Why there is no digest; "" if there is one."""
    number: int
    """Of the change that brought it; ascending."""


class Verdicts:
    """Judges the runs of a logdir, the newest first; safe for many threads.

    Nothing is judged before somebody asks.

    Args:
      read: A run's name -> the run or its records. Raises KeyError where it is gone.
      logdir: Where captures and experiments are looked for; None where there is no local one.
      kept: Where digests outlive the process; None to keep them in memory only.
      hyperparameters: Of some runs, what their programs logged.
      open_judge: Makes what judges, one for each thread.
      processes: How many runs are judged at a time.
      clock: Seconds.
    """

    def __init__(
        self,
        read: Callable[[str], Unjudged],
        *,
        logdir: str | None = None,
        kept: KeptRows | None = None,
        hyperparameters: Callable[[Collection[str]], Hyperparameters] = lambda _: {},
        open_judge: Callable[[], Judge] = JudgeProcess,
        processes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        is_local = bool(logdir) and "://" not in str(logdir)
        self._logdir = Path(str(logdir)).expanduser() if is_local else None
        self._read = read
        self._kept = kept
        self.hyperparameters = hyperparameters
        self._open_judge = open_judge
        half = (os.cpu_count() or 2) // 2
        self._processes = processes or min(_MOST_PROCESSES, max(2, half))
        self._clock = clock
        self._store = uuid.uuid4().hex[:8]
        self._changed = threading.Condition()
        self._rows: dict[str, VerdictRow] = {}
        self._wanted: Mapping[str, str] = {}
        """Run -> the version that there is now."""
        self._queue: deque[str] = deque()
        self._judging: set[str] = set()
        self._rests_until: dict[str, float] = {}
        self._hyperparameters: Hyperparameters = {}
        self._number = 0
        self._threads = 0
        self._is_open = False
        self._written_at = -_KEEP_SECONDS
        self._unwritten = False

    def row(self, name: str) -> VerdictRow | None:
        """What was found in a run, of whatever version; None as long as nobody has looked."""
        with self._changed:
            return self._rows.get(name)

    def follow(self, runs: Mapping[str, Seen], is_live: Callable[[Seen], bool]) -> None:
        """Judges, in the background, what has changed among the runs that there are now."""
        self._open()
        wanted = {name: self._version(name, seen) for name, seen in runs.items()}
        hyperparameters = self.hyperparameters(runs.keys())
        now = self._clock()
        with self._changed:
            self._wanted = wanted
            for name in self._rows.keys() - wanted.keys():
                del self._rows[name]
            for name in {*hyperparameters, *self._hyperparameters}:
                row = self._rows.get(name)
                if row and hyperparameters.get(name) != self._hyperparameters.get(name):
                    self._put(name, row.version, row.digest or row.error)
            self._hyperparameters = hyperparameters
            due = [
                (is_live(seen), seen.reported, name)
                for name, seen in runs.items()
                if not self._is_current(name)
                and name not in self._judging
                and (name not in self._rows or self._rests_until.get(name, now) <= now)
            ]
            self._queue = deque(name for _, _, name in sorted(due, reverse=True))
            while self._threads < min(self._processes, len(self._queue)):
                self._threads += 1
                threading.Thread(target=self._work, name="tbslow-judge", daemon=True).start()
            self._changed.notify_all()

    def body(self, since: int = 0, store: str = "") -> Body:
        """The rows that came after change number `since` of `store`, as the route sends them."""
        with self._changed:
            first = since if store == self._store else 0
            rows = sorted(
                (row.number, name, row) for name, row in self._rows.items() if row.number > first
            )
            return {
                "store": self._store,
                "number": self._number,
                "judged": sum(self._is_current(name) for name in self._wanted),
                "of": len(self._wanted),
                "rows": [
                    {
                        "run": name,
                        "digest": asdict(row.digest) if row.digest else None,
                        "error": row.error,
                        "hyperparameters": dict(self._hyperparameters.get(name, {})),
                    }
                    for _, name, row in rows
                ],
            }

    def wait(self, seconds: float) -> bool:
        """Whether all was judged within so many seconds; for tests and benchmarks."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._queue and not self._judging and not self._unwritten,
                timeout=seconds,
            )

    def _open(self) -> None:
        """Takes what the cache directory holds, once."""
        with self._changed:
            if self._is_open:
                return
            self._is_open = True
            for name, (version, digest) in (self._kept.read() if self._kept else {}).items():
                self._put(name, version, digest)

    def _version(self, name: str, seen: Seen) -> str:
        trials = trials_version(self._logdir, name) if self._logdir else None
        return repr((seen.version, seen.reported, trials))

    def _is_current(self, name: str) -> bool:
        row = self._rows.get(name)
        return row is not None and row.version == self._wanted.get(name)

    def _put(self, name: str, version: str, found: Judged) -> None:
        self._number += 1
        digest, error = (None, found) if isinstance(found, str) else (found, "")
        self._rows[name] = VerdictRow(version, digest, error, self._number)

    def _work(self) -> None:
        judge: Judge | None = None
        try:
            judge = self._open_judge()
            while (name := self._next()) is not None:
                self._judge_next(judge, name)
                self._keep()
        except BaseException:
            with self._changed:
                self._threads -= 1  # the next `follow` starts another
            raise
        finally:
            if judge is not None:
                judge.close()

    def _judge_next(self, judge: Judge, name: str) -> None:
        began = self._clock()
        found: tuple[str, Judged] | None = None
        try:
            found = self._judge(judge, name)
        finally:
            took = self._clock() - began
            with self._changed:
                self._judging.discard(name)
                if found is not None and name in self._wanted:
                    self._put(name, found[0], found[1])
                    self._rests_until[name] = began + max(_REST_SECONDS, REST * took)
                    self._unwritten = self._kept is not None
                self._changed.notify_all()

    def _next(self) -> str | None:
        """The next run; None where there was none for a while, and the thread isn't counted."""
        with self._changed:
            if not self._queue:
                self._changed.wait_for(lambda: bool(self._queue), timeout=_LINGER_SECONDS)
            if not self._queue:
                self._threads -= 1
                return None
            name = self._queue.popleft()
            self._judging.add(name)
            return name

    def _judge(self, judge: Judge, name: str) -> tuple[str, Judged] | None:
        """The version that was judged, and what was found; None where the run is gone."""
        with self._changed:
            version = self._wanted.get(name)
        if version is None:
            return None
        try:
            unjudged = self._read(name)
        except KeyError:
            return None
        except Exception as error:  # noqa: BLE001 - one run that can't be read must not end all
            return version, f"It can't be read ({type(error).__name__}: {error})."
        try:
            return version, judge.judge(Task(name, unjudged, self._logdir))
        except Exception as error:  # noqa: BLE001 - nor one that can't be judged
            return version, unjudgeable(error)

    def _keep(self) -> None:
        """Writes to the cache directory what is new, now and then and at the end."""
        if self._kept is None:
            return
        with self._changed:
            is_done = not self._queue and not self._judging
            is_due = self._clock() - self._written_at >= _KEEP_SECONDS
            if not self._unwritten or not (is_done or is_due):
                return
            number = self._number
            self._written_at = self._clock()
            rows = {
                name: (row.version, row.digest)
                for name, row in self._rows.items()
                if row.digest is not None
            }
        self._kept.write(rows)
        with self._changed:
            self._unwritten = self._number > number
            self._changed.notify_all()

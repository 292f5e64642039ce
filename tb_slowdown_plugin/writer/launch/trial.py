"""One run of `tbslow try`, in the program's process: intervenes, times the steps, and ends it.

What was seen goes to a file, `TIMES_FILE` in the trial's logdir, for the process that compares.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.records.trials import TIMES_FILE
from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer import redirection
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.settings import Settings
from tb_slowdown_plugin.writer.launch.write_guard import guard_of

_MAX_SECONDS: Final = 60.0
"""A run is no longer than this once it has the least number of steps. Chosen by hand."""
_MIN_STEPS: Final = 25


def begin(settings: Settings) -> None:
    """Intervenes. TensorFlow is imported, and no monitor runs yet."""
    from tb_slowdown_plugin.writer.launch.interventions.registry import INTERVENTIONS

    steps = int(settings.steps)
    chosen = INTERVENTIONS.get(settings.experiment, Nothing)
    trial = TrialRun(Path(settings.logdir), chosen(steps), steps)
    try:
        trial.intervention.install()
    except (Unavailable, ImportError, AttributeError) as error:
        trial.end(str(error))
    if settings.guarded:
        from tb_slowdown_plugin.writer.launch.tensorflow_writes import guard_writes

        guard_writes(guard_of(settings))
    atexit.register(trial.write)
    redirection.logdir = settings.logdir
    redirection.on_install = trial.follow


class Nothing(Intervention):
    """The program as it is."""

    untouched = ""

    def install(self) -> None:
        """Nothing."""
        self.applied = 1


class TrialRun:
    """The steps of a program until it is ended.

    Args:
      logdir: Where the times go.
      intervention: What is changed.
      steps: After so many the program ends.
    """

    def __init__(self, logdir: Path, intervention: Intervention, steps: int) -> None:
        self.intervention = intervention
        self._logdir = logdir
        self._steps = steps
        self._ended_ns: list[int] = []
        self._batches: list[float] = []
        self._process = os.getpid()
        self._reason = ""

    def follow(self, monitor: monitors.Monitor) -> None:
        """Another monitor watches from now on: `tbslow run`'s or one of the program's."""
        recorder = monitor.recorder

        def after_step() -> bool:
            if os.getpid() == self._process:
                self.count(recorder.ended_ns, self.intervention.batches_in(recorder))
            return True

        recorder.due.call_after_steps(after_step)

    def count(self, ended_ns: int, batches: float) -> None:
        """A step has ended; the last one ends the program."""
        self._ended_ns.append(ended_ns)
        self._batches.append(batches)
        self.intervention.after_step(len(self._ended_ns))
        finished = sum(self._batches)
        seconds = (ended_ns - self._ended_ns[0]) / 1e9
        if finished >= self._steps or (finished >= _MIN_STEPS and seconds > _MAX_SECONDS):
            self.end("")

    def write(self) -> None:
        """Writes what was seen."""
        if os.getpid() != self._process:
            return
        reason = self._reason
        if not reason and not self.intervention.applied:
            reason = self.intervention.untouched
        body = {"reason": reason, "ended_ns": self._ended_ns, "batches": self._batches}
        self._logdir.mkdir(parents=True, exist_ok=True)
        (self._logdir / TIMES_FILE).write_text(json.dumps(body), encoding="utf-8")

    def end(self, reason: str) -> None:
        """Ends the program, whatever it would do yet: it works on a copy of its directory."""
        self._reason = reason
        self.write()
        monitors.stop()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(0)

"""A monitor that the program did not start: it waits for steps, and gives way to the program's own.

It is no monitor that `tbslow.start` would refuse to replace, nor one that
`tbslow.summary.step` would write to: a program that uses `tbslow` stays in charge.
"""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING, Final

from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN, STEP_RULE
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer.launch.settings import Settings
from tb_slowdown_plugin.writer.session_factory import create_session

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.launch.training.known_functions import OtherCalls

_MAX_NOT_CHOSEN: Final = 4
_log = logging.getLogger("tb_slowdown_plugin")

_begun: Unasked | None = None


def begin(settings: Settings) -> None:
    """Starts the monitor; TensorFlow is imported. Never raises."""
    global _begun
    _begun = None
    if monitors.active() is not None:
        return  # the program was quicker
    collects = gc.isenabled()
    gc.disable()  # a full collection right after the import of TensorFlow takes 100 ms and more
    try:
        _begun = Unasked(settings)
    except Exception as error:  # noqa: BLE001 - the program must go on
        _log.warning("slowdown monitor: tbslow run failed (%s)", reason_of(error))
    finally:
        if collects:
            gc.enable()


def begun() -> Unasked | None:
    """What was begun in this process; None before TensorFlow is imported."""
    return _begun


class Unasked:
    """The monitor of `tbslow run`, and what tells it of steps."""

    def __init__(self, settings: Settings) -> None:
        from tb_slowdown_plugin.writer.launch.training.fits import Fits
        from tb_slowdown_plugin.writer.launch.training.passes import Passes
        from tb_slowdown_plugin.writer.launch.training.step_cycle import StepCycle
        from tb_slowdown_plugin.writer.launch.training.training_calls import TrainingCalls
        from tb_slowdown_plugin.writer.output.event_file import EventFileSink

        logdir = settings.logdir
        session = create_session(
            lambda session, worker: EventFileSink(logdir, session, worker),
            logdir=None if "://" in logdir else logdir,
        )
        on_stop = self._end
        self.settings = settings
        self.failure = ""
        self._rules: dict[str, int] = {}
        recorder = self._recorder = session.recorder
        self._cycle = StepCycle(
            recorder,
            lambda turn, steps: self._tell_rule(_rule_of([each.name for each in turn]), steps),
        )
        only = "" if settings.step in ("fit", "dataset") else settings.step
        self._calls = TrainingCalls(recorder, self._cycle, only, self._report, self._doubt)
        self._fits = Fits(self._begin_fit, self._report)
        is_dataset = settings.step == "dataset"
        self._passes = Passes(recorder, self._step_of_batch if is_dataset else None, self._report)
        if settings.profile:
            from tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown import capture_slowdowns

            close = capture_slowdowns(session, logdir)

            def on_stop() -> None:
                close()
                self._end()

        self.monitor = monitors.Monitor(session, lambda: on_stop(), waits=True)
        recorder.due.call_after_steps(self._go)
        try:
            self._install(settings.step)
        except Exception:
            self.monitor.stop()
            raise
        monitors.install(self.monitor, explicit=False)

    def _install(self, step: str) -> None:
        """Hooks what makes steps: all, or what the rule asks for."""
        self._passes.install()
        self._calls.first_wait = lambda: self._passes.first_wait
        if step in ("", "fit"):
            self._fits.install(self.monitor)
        if step not in ("fit", "dataset"):
            self._calls.install()

    @property
    def reason(self) -> str:
        """Why there is no step, for a person; "" where there is one."""
        if self._recorder.rows:
            return ""
        if self.failure:
            return f"the monitor failed: {self.failure}"
        if self.settings.step:
            called = ", ".join(name for name, _ in self._not_chosen())
            return f"there was no step by the rule --step {self.settings.step}" + (
                f" (the program called {called})" if called else ""
            )
        return "no function or optimizer was seen to change a trainable variable"

    def _go(self) -> bool:
        self.monitor.go()
        return False

    def _begin_fit(self, name: str) -> None:
        self._cycle.close()
        self._tell_rule(f"one batch of {name}")

    def _step_of_batch(self, is_fetched: bool) -> None:
        """Where a batch is a step: it begins when the batch is there, and ends before the next."""
        recorder = self._recorder
        if is_fetched:
            if self._passes.first_wait is not None:
                recorder.open_since(self._passes.first_wait)
            recorder.begin()
            self._tell_rule("one batch of a dataset")
        elif recorder.in_step:
            recorder.end()

    def _tell_rule(self, rule: str, steps: int = 0) -> None:
        if self._rules.get(rule) != steps:
            self._rules[rule] = steps
            self._recorder.emit(Fact(STEP_RULE, rule, {"steps": float(steps)} if steps else {}))

    def _report(self, error: Exception) -> None:
        self.failure = reason_of(error)
        self._cycle.close()
        _log.warning("slowdown monitor: tbslow run failed (%s)", self.failure)

    def _doubt(self) -> None:
        _log.warning("slowdown monitor: %s; nothing is recorded so far", self.reason)

    def _end(self) -> None:
        """The monitor stops: the step that is open ends."""
        self._calls.remove()
        self._fits.remove()
        self._passes.remove()
        self._cycle.close()
        if self._recorder.in_step:
            self._recorder.end()
        for name, each in self._not_chosen():
            numbers = {"calls": float(each.calls), "seconds": each.seconds}
            numbers |= {"gradients": 1.0} if each.compute_gradients else {}
            self._recorder.emit(Fact(STEP_NOT_CHOSEN, name, numbers))

    def _not_chosen(self) -> list[tuple[str, OtherCalls]]:
        """Functions that make no step, those that take most first."""
        return sorted(
            self._calls.others.items(), key=lambda each: (-each[1].seconds, -each[1].calls)
        )[:_MAX_NOT_CHOSEN]


def _rule_of(names: list[str]) -> str:
    """What a step is.

    Example:
      >>> _rule_of(["train_step (train.py:41)"])
      'one call of train_step (train.py:41)'
      >>> _rule_of(["d (gan.py:1)", "g (gan.py:9)"])
      'one call of d (gan.py:1) and those of g (gan.py:9) after it'
    """
    first, *more = names
    rule = f"one call of {first}"
    return f"{rule} and those of {', '.join(more)} after it" if more else rule

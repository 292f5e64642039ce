"""Phases: named parts of a step, or of the time between two steps."""

from __future__ import annotations

from types import TracebackType

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer.steps.recorder import Recorder


class Phase:
    """Books the time inside its `with` block to one account, exclusively.

    Phases nest, and the innermost one gets the time. A phase opens and closes
    on the same side of a step's edge, in the training thread.
    """

    __slots__ = ("_account", "_name", "_recorder")

    def __init__(self, recorder: Recorder, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise UsageError(
                f"phase {name!r} has no name; give one of "
                f"{', '.join(sorted(names.STANDARD_PHASES))}, or a text of your own"
            )
        self._recorder = recorder
        self._name = name
        self._account = names.STANDARD_PHASES.get(name) or names.account(names.PHASE, name)

    def __enter__(self) -> None:
        """Opens the account."""
        recorder = self._recorder
        if not recorder.is_mine():
            raise UsageError(
                f"phase {self._name!r} is opened outside the training thread; "
                "a step's time is that of the thread that opens the steps: open phases there"
            )
        if recorder.is_tracing():
            raise UsageError(
                f"phase {self._name!r} is opened inside a tf.function, where it would run only "
                "while the function is traced; open it around the call of the function"
            )
        if self in recorder.open_phases:
            raise UsageError(
                f"phase {self._name!r} is already open. Call `tbslow.summary.phase(...)` each time"
            )
        if self._account == names.INPUT_WAIT:
            recorder.open_period()
        recorder.open_phases.append(self)
        recorder.stopwatch.open(self._account)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the account."""
        if self._recorder.close_phase(self):
            return
        if kind is None:
            raise UsageError(
                f"phase {self._name!r} is closed outside the step in which it was opened, or not "
                "in the order of opening; close it by leaving its `with` block, inside the step"
            )

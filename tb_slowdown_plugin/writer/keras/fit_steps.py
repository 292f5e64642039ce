"""What `model.fit` does, as steps, epochs and accounts of a recorder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PLANNED_STEPS, PLANNED_STEPS_OVER
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer.steps.periods import (
    is_idle,
)
from tb_slowdown_plugin.writer.steps.recorder import Recorder

BOOKKEEPING: Final = names.account(names.PHASE, "keras epoch bookkeeping")
"""What Keras does between the last batch of an epoch and the first of the next: end of data,
metrics, a new iterator. At every epoch one step in hundreds takes 100 times the median."""
BETWEEN: Final = names.account(names.PHASE, "between calls of fit")


class _Gap(NamedTuple):
    at_ns: int
    cpu_ns: int
    booked_ns: int
    rows: int


class FitSteps:
    """Follows one call of `fit` after the other; every call comes from Keras's callback list.

    Steps are numbered on from one `fit` to the next, and so are epochs.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._watch = recorder.stopwatch
        self._next_step = 0
        self._next_epoch = 0
        self._batches_per_execution = 1
        self._batches_per_epoch: int | None = None
        self._epochs: int | None = None
        self._count: Callable[[], int] | None = None
        self._outer = 0
        self._gap: _Gap | None = None

    def begin_fit(
        self,
        batches_per_execution: int,
        batches_per_epoch: int | None,
        count: Callable[[], int] = lambda: 0,
        epochs: int | None = None,
    ) -> None:
        """`fit` begins, in this thread.

        Args:
          batches_per_execution: Keras's `steps_per_execution`.
          batches_per_epoch: None where Keras does not know it (yet).
          count: Gives the steps made so far, when the first batch begins: steps go on from
            there, unless they are further already. So a run that was resumed goes on.
          epochs: The number of the epoch that `fit` ends before; None where that isn't known.
        """
        self._recorder.is_mine()  # the first to ask is the training thread
        self._cancel()
        self._watch.disown()
        self._recorder.open_period()
        self._outer = self._watch.depth
        self._batches_per_execution = batches_per_execution
        self._batches_per_epoch = batches_per_epoch
        self._epochs = epochs
        self._count = count
        self._book_gap()
        self._watch.open(BOOKKEEPING)

    def begin_epoch(self, epoch: int) -> None:
        """An epoch begins with the next batch."""
        if self._epochs is not None:
            self._recorder.emit(self._plan(self._epochs - epoch))
            self._epochs = None
        self._next_epoch = max(epoch, self._next_epoch)
        self._recorder.mark_epoch(self._next_epoch)
        self._next_epoch += 1

    @property
    def go_on(self) -> bool:
        """Whether the end of a batch begins the next one, so that only the first is announced."""
        return self._batches_per_execution == 1

    def begin_batch(self, batch: int) -> None:
        """An execution begins with this batch of the epoch."""
        self._cancel()
        self._close_accounts()
        if self._count is not None:
            self._next_step = max(self._count(), self._next_step)
            self._count = None
        self._recorder.begin(self._next_step, self._batches_from(batch))

    def end_batch(self, *_: Any) -> None:
        """It ended well; where an execution is one batch, the next begins right here.

        Between the two Keras does nothing but call the callbacks. Out of a cold cache,
        as a real step leaves it, beginning there takes 20 us, and here 2 us.
        """
        recorder = self._recorder
        if recorder.in_step:
            recorder.__exit__(None, None, None)
            self._next_step += self._batches_per_execution
            if self._batches_per_execution == 1:
                recorder.go_on(self._next_step)

    def leave_batches(self) -> None:
        """No more batches for now: an epoch is ending, or validation begins."""
        self._cancel()
        if self._watch.depth == self._outer:
            self._watch.open(BOOKKEEPING, since_ns=self._recorder.ended_ns)

    def begin_validation(self) -> None:
        """`evaluate` begins inside `fit`."""
        self.leave_batches()
        self._watch.open(names.VALIDATION)

    def end_validation(self) -> None:
        """It ended."""
        if self._watch.innermost == names.VALIDATION:
            self._watch.close()

    def end_fit(self) -> None:
        """`fit` ends."""
        self._cancel()
        self._recorder.emit(Fact(PLANNED_STEPS_OVER))
        self._close_accounts()
        self._gap = self._look()

    def leave_fit(self) -> None:
        """`fit` has ended some time ago, with an exception.

        The batch that was open is no step, and what passed since the last thing that
        is known belongs to no account that was left open.
        """
        self._recorder.emit(Fact(PLANNED_STEPS_OVER))
        self._watch.open(BETWEEN, since_ns=self._recorder.ended_ns)
        self._watch.close()
        self._cancel()
        self._close_accounts()
        unknown_ns = self._watch.booked.pop(BETWEEN, 0)
        now = self._look()
        self._gap = now._replace(at_ns=now.at_ns - unknown_ns)

    def _plan(self, epochs: int) -> Fact:
        numbers = {"epochs": float(epochs)}
        if self._batches_per_epoch is not None:
            numbers["steps"] = float(-(-self._batches_per_epoch // self._batches_per_execution))
        return Fact(PLANNED_STEPS, "", numbers)

    def _look(self) -> _Gap:
        booked = self._watch.booked_ns
        clock = self._recorder.clock
        return _Gap(clock.monotonic_ns(), clock.process_cpu_ns(), booked, self._recorder.rows)

    def _book_gap(self) -> None:
        """What passed since the last `fit` and has no account yet is between the two.

        Unless nobody was there: what is idle time, the recorder decides at the first batch.
        """
        before, now = self._gap, self._look()
        if before is None or before.rows != now.rows:
            return
        rest_ns = now.at_ns - before.at_ns - (now.booked_ns - before.booked_ns)
        if rest_ns > 0 and not is_idle(rest_ns, now.cpu_ns - before.cpu_ns):
            self._watch.booked[BETWEEN] = rest_ns

    def _cancel(self) -> None:
        # A batch was begun, or Keras announced one, before it was known that none is left.
        if self._recorder.in_step:
            self._recorder.cancel()

    def _close_accounts(self) -> None:
        while self._watch.depth > self._outer:
            self._watch.close()

    def _batches_from(self, batch: int) -> int | None:
        if self._batches_per_execution == 1:
            return None
        if self._batches_per_epoch is None:
            return self._batches_per_execution
        return max(1, min(self._batches_per_execution, self._batches_per_epoch - batch))

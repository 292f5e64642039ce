"""Gradient tapes that stay open, or stay alive with all that they recorded.

Cost: 1.6 us for each tape that is opened, asked, and closed (a gradient takes 200 us and
more), 1 us a sample in the background.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.tracing.step_functions import GRADIENTS
from tb_slowdown_plugin.records.types import Fact

_WORTH_A_FACT_STEPS: Final = 10
"""A tape around a few steps may be meant (gradient accumulation); from here on, and each time
its age has doubled, where it was opened is told."""
_OUTSIDE: Final = 3
"""Frames from the hook to what opens a tape: `_push_tape`, `__enter__`."""
_BETWEEN: Final = contextlib.contextmanager.__code__.co_filename
"""What stands between the user's code and a tape: `ExitStack`, `stop_recording`."""


@dataclass(slots=True)
class _Tape:
    """A tape that was opened."""

    tape: weakref.ref[Any]
    since: int
    """Steps that were finished when it was opened."""
    code: CodeType
    line: int
    is_left: bool = False
    """Whether its `with` block was left; one that only pauses is open."""
    told_at: int = _WORTH_A_FACT_STEPS
    """Age in steps at which it is told next."""


class Tapes:
    """Samples how many `tf.GradientTape` stay open from one step to the next, and how long.

    A tape records all that runs while it is open, and keeps what it recorded
    alive: one that is opened around the loop grows with every step. How many
    operations a tape holds TensorFlow does not tell, so no length is measured.
    """

    name = "tapes"

    def start(self, context: Context) -> None:
        """Replaces the methods that open and close a tape.

        Raises:
          Unavailable: This TensorFlow's tape has other methods.
        """
        from tensorflow.python.eager import backprop
        from tensorflow.python.eager import context as eager

        tape = backprop.GradientTape
        if missing := [name for name in ("_push_tape", "__exit__") if not hasattr(tape, name)]:
            raise Unavailable(f"this TensorFlow's GradientTape has no {', '.join(missing)}")
        self._context = context
        self._runs_eagerly = eager.executing_eagerly
        self._places = SourcePlaces.of_process()
        self._tapes: dict[int, _Tape] = {}
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.replace(tape, "_push_tape", self._make_push)
        self._hooks.replace(tape, "__exit__", self._make_exit)
        self._hooks.replace(tape, "gradient", self._make_gradient)

    def read(self) -> Mapping[str, float]:
        """Tapes open since an earlier step, the steps the oldest is open, tapes that hold records.

        0 where there are none: all tapes opened since the start are known.
        """
        steps = self._context.steps_finished()
        ages = [0]
        holding = 0
        for known in list(self._tapes.values()):
            tape = known.tape()
            if tape is None:
                continue
            if tape._tape is None:  # emptied by a gradient, or never used
                continue
            holding += 1
            age = steps - known.since
            if known.is_left or not age:
                continue
            ages.append(age)
            if age >= known.told_at:
                known.told_at = 2 * age
                self._context.emit(
                    Fact(
                        "open_tape",
                        self._places.in_code(known.code, known.line),
                        {"age_steps": age},
                    )
                )
        return {
            "open_tapes": len(ages) - 1,
            "oldest_tape_steps": max(ages),
            "live_tapes": holding,
        }

    def stop(self) -> None:
        """Removes the hooks."""
        self._hooks.remove()

    def _make_push(self, push: Callable[[Any], None]) -> Callable[[Any], None]:
        tapes = self._tapes
        steps_finished = self._context.steps_finished
        watch = self._context.stopwatch
        runs_eagerly = self._runs_eagerly
        frame_of = sys._getframe

        def push_tape(tape: Any) -> None:
            is_empty = tape._tape is None
            push(tape)
            if watch.is_mine() and runs_eagerly():
                watch.ran |= GRADIENTS
            key = id(tape)
            if not is_empty and key in tapes:  # it goes on after a pause
                tapes[key].is_left = False
                return
            opener = frame_of(_OUTSIDE)
            while opener.f_code.co_filename == _BETWEEN and opener.f_back is not None:
                opener = opener.f_back
            tapes[key] = _Tape(
                weakref.ref(tape, lambda _: tapes.pop(key, None)),
                steps_finished(),
                opener.f_code,
                opener.f_lineno,
            )

        return push_tape

    def _make_gradient(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        watch = self._context.stopwatch
        runs_eagerly = self._runs_eagerly

        def gradient(tape: Any, *arguments: Any, **options: Any) -> Any:
            if watch.is_mine() and runs_eagerly():  # of a tape that was opened in an earlier step
                watch.ran |= GRADIENTS
            return compute(tape, *arguments, **options)

        return gradient

    def _make_exit(self, leave: Callable[..., None]) -> Callable[..., None]:
        tapes = self._tapes

        def leave_tape(tape: Any, *error: Any) -> None:
            leave(tape, *error)
            known = tapes.get(id(tape))
            if known is not None:
                known.is_left = True

        return leave_tape

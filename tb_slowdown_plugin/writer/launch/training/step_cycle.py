"""Which calls of training functions make a step, where the program does not say.

A step begins with the first function of a cycle and ends after the last one: a generator and a
discriminator that are trained in turn are one step. How long the cycle is, its first turn shows:
that step ends when the first function is called again. Where turns differ (five steps of a critic,
then one of a generator) every step ends so. A function that keeps being called without the first
one begins another part of the program, with steps of a kind of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

_MAX_REPEATS: Final = 3
"""Calls of another function in the first turn of a cycle, before it counts as a part of its own;
twice the most that were seen in a turn later on. Chosen by hand."""

_MAX_RULES: Final = 8
"""Turns of different functions that are told. Chosen by hand."""

_TOLD_AT: Final = frozenset(10**digits for digits in range(1, 10))
"""Counts of a rule's steps that are told, so that a run can be read before it ends."""


class Training(NamedTuple):
    """A function that trains."""

    name: str
    """"train_step (train.py:41)"."""
    kind: str
    """"train_step": the kind of its steps, unless they are the first ones."""
    trains: bool = True
    """Whether it changes variables: otherwise its first steps have its kind, too."""


class StepRecorder(Protocol):
    """What makes rows of steps: a `Recorder`."""

    @property
    def in_step(self) -> bool:
        """Whether a step is open."""

    def begin(
        self, step: int | None = None, items: float | None = None, kind: str = "train"
    ) -> None:
        """A step begins."""

    def end(self) -> None:
        """It ends."""

    def cancel(self) -> None:
        """It was no step; its time goes to the next one."""


class StepCycle:
    """Turns calls into steps.

    Args:
      steps: Is told of them.
      tell_rule: Is given the functions of a turn where they are new, and how many steps were such
        turns. Where turns differ, this again now and then, and at the end.

    Example:
      >>> from tb_slowdown_plugin.writer.steps.recorder import Recorder
      >>> recorder = Recorder()
      >>> cycle = StepCycle(recorder, lambda functions, steps: None)
      >>> for function in (Training("d", "d"), Training("g", "g")) * 3:
      ...     cycle.enter(function)
      ...     cycle.leave()
      >>> cycle.close()
      >>> recorder.rows
      3
    """

    def __init__(
        self, steps: StepRecorder, tell_rule: Callable[[tuple[Training, ...], int], None]
    ) -> None:
        self._steps = steps
        self._tell_rule = tell_rule
        self._turns: Counter[tuple[Training, ...]] = Counter()
        self._told: dict[tuple[Training, ...], int] = {}
        self._kinds: dict[Training, str] = {}
        self._head: Training | None = None
        self._members: list[Training] = []
        """What was called in the step that is open; empty without one."""
        self._expected: list[Training] | None = None
        """What was called in the step before."""
        self._most: dict[Training, int] = {}
        self._varies = False
        self._is_tentative = False
        """Whether the open step began with another function than the first of the cycle."""

    def enter(self, function: Training) -> None:
        """A call begins."""
        if self._head is None:
            self._begin_part(function)
        if function == self._head:
            self._finish(cancel=self._is_tentative)
            self._is_tentative = False
            self._open(function)
        elif self._members:
            if self._is_tentative and function == self._members[0]:
                self._begin_part(function)
                self._open(function)
                return
            self._members.append(function)
            if self._members.count(function) > self._allowed(function):
                self._begin_part(function)
                self._open(function)
        else:
            self._is_tentative = True
            self._open(function)

    def leave(self) -> None:
        """The call ended."""
        if not (self._varies or self._is_tentative) and self._members == self._expected:
            self._finish()

    def close(self) -> None:
        """No more calls for now."""
        self._finish()
        self._tell_counts()
        self._head = None
        self._is_tentative = False

    def forget(self) -> None:
        """The program raised in the call: it was no step."""
        self._members = []
        if self._steps.in_step:
            self._steps.cancel()

    def _begin_part(self, head: Training) -> None:
        self._finish()
        self._head = head
        self._expected = None
        self._most = {}
        self._varies = self._is_tentative = False

    def _open(self, function: Training) -> None:
        self._members = [function]
        is_first = not self._kinds and function.trains
        kind = self._kinds.setdefault(function, "train" if is_first else function.kind)
        self._steps.begin(kind=kind)

    def _finish(self, *, cancel: bool = False) -> None:
        """Ends the step that is open."""
        members, self._members = self._members, []
        if not (members and self._steps.in_step):
            return
        if cancel:  # it came between two turns: the turns differ, and it was no step
            self._steps.cancel()
            self._varies = True
            return
        self._steps.end()
        if self._expected is not None and members != self._expected:
            self._varies = True
        self._expected = members
        for member in members:
            self._most[member] = max(self._most.get(member, 0), members.count(member))
        self._count(tuple(dict.fromkeys(members)))

    def _count(self, turn: tuple[Training, ...]) -> None:
        if turn not in self._turns and len(self._turns) >= _MAX_RULES:
            return
        self._turns[turn] += 1
        if turn not in self._told:
            self._tell(turn)
        elif self._turns[turn] in _TOLD_AT:
            self._tell_counts()

    def _tell_counts(self) -> None:
        """How many steps each rule has made, where that is a question."""
        for turn in self._turns if len(self._turns) > 1 else ():
            if self._told[turn] != self._turns[turn]:
                self._tell(turn)

    def _tell(self, turn: tuple[Training, ...]) -> None:
        self._told[turn] = self._turns[turn]
        self._tell_rule(turn, self._turns[turn])

    def _allowed(self, function: Training) -> int:
        return max(_MAX_REPEATS, 2 * self._most.get(function, 0))

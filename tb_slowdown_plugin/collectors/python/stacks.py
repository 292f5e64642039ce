"""Where in the user's Python the training thread is, sampled while steps get slower.

Cost: 110 us a sample in the background (25 frames deep; 80 of them for a moment that
the interpreter's lock does not choose), 8 us more for each other thread in Python now, and 40 us
a second for the pace of the steps.
While steps keep their pace nothing is sampled beyond the first 100.

One call of C that keeps the lock for half a second (`sorted`, `pickle`) lets no thread wake up in
it: then the frame at the moment of waking is the one that called it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Final

from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.events import INPUT_LINE, PYTHON_STACK
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.installed_code import program_frame
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.python.any_moment import AnyMoment
from tb_slowdown_plugin.collectors.python.eager_operations import (
    caller_of_model,
    converts_list,
    is_given_array,
    runs_graph,
    runs_no_graph,
    trains_eagerly,
)
from tb_slowdown_plugin.collectors.python.feeding import Feeding, places_of_input
from tb_slowdown_plugin.collectors.python.sampled_frames import (
    Place,
    calls_no_tensorflow,
    find_caller,
    libraries_of,
    place_of,
)
from tb_slowdown_plugin.collectors.python.still_frames import Frames, Stack, find_frames, stack_of
from tb_slowdown_plugin.collectors.python.thread_places import places_of_others
from tb_slowdown_plugin.collectors.python.waiting import Wait, find_wait
from tb_slowdown_plugin.collectors.timing.slowdown_detector import StepPace
from tb_slowdown_plugin.collectors.timing.thread_files import cpu_time_of, scheduled
from tb_slowdown_plugin.records.types import Fact

_SAMPLES: Final = 60
"""Samples that are told together: 1 in 60 is worth no line of a report."""

_SAMPLES_OF_NEWS: Final = 30
"""The same of the first set after steps got slower: whoever looks on waits for it."""

_FIRST_SETS: Final = (10, 10, 10, 20, 20, 30)
"""The same of the first sets, which any run has: a program of four seconds has four of them."""

_FEWEST: Final = 20

_FEWEST_OF_FIRST: Final = 5

_STILL_SECONDS: Final = 1e-4
"""Python's own lines go on within it: a loop takes 0.05 us for each turn, an operation on one row
20 us."""

_PLACES: Final = 5
"""Places told of a set of samples, the most frequent ones."""

_SETS_OF_A_SIZE: Final = 16
"""After so many sets a set takes twice as many samples: a week of suspicion is about 100."""

_NOTE_NS: Final = 1_000_000_000
"""How often the pace is noted, at most: a note takes 40 us out of a cold cache."""

_MOSTLY: Final = 0.5
"""Share of a delay that is the lock's, so that the thread which woke up late has waited for it."""


class PythonStacks:
    """Samples the innermost frame of the training thread that the user wrote.

    The first samples are taken in any run until steps get slower, so that a later share
    has something to be compared with; after that it samples while a step takes longer, or
    takes the training thread more CPU time, than it once did. Whether that is
    Python's doing is for the analysis to say.

    Args:
      frames: The frame that each thread is in, by the thread's identity.
      wait: Called before each sample, for a moment that says something, with the seconds since
        the sampling thread was due.
      find_wait: Whether a thread waits.
      pause: Lets the training go on for so many seconds.
    """

    name = "python_stacks"
    is_cheap = True

    def __init__(
        self,
        frames: Frames | None = None,
        wait: Callable[[float], None] | None = None,
        find_wait: Callable[[int, Frames], Wait] = find_wait,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._frames = frames
        self._find_wait = find_wait
        self._pause = pause
        self._wait = wait or AnyMoment().wait
        self.due_ns = 0
        """When the sampling thread was due, by the monotonic clock; it is told before a reading."""

    def start(self, context: Context) -> None:
        """Keeps what it needs; nothing is hooked.

        Raises:
          Unavailable: This Python does not show the frames of other threads.
        """
        self._frames = self._frames or find_frames()
        if self._frames is None:
            raise Unavailable("this Python does not show the frames of other threads")
        self._context = context
        self._places = SourcePlaces.of_process()
        self._pace = StepPace()
        self._feeding = Feeding()
        self._seen: Counter[Place] = Counter()
        self._input: Counter[Place] = Counter()
        """Where other threads make input."""
        self._inside: dict[Place, Counter[str]] = {}
        self._open: list[tuple[Place, list[str]]] = []
        """Samples of the step under way, if it is one: after the last step nothing is."""
        self._steps = 0
        self._sets = 0
        self._was_slower = False
        self._are_news = True
        self._next_note_ns = 0
        self._held: tuple[Place, list[str]] | None = None
        self._waited_ns: int | None = None  # of the sampling thread, which isn't this one

    @property
    def is_curious(self) -> bool:
        """Whether it samples now: it has not seen enough, or steps are slower than they were."""
        return self._is_young or self._pace.is_slower

    def read(self) -> Mapping[str, float]:
        """No values: what it has seen is told as events, `python_stack` with a place."""
        held, self._held = self._held, None
        thread = self._context.stopwatch.thread
        steps = self._context.steps_finished()
        if not thread or not steps:
            return {}
        now_ns = self._context.clock.monotonic_ns()
        if now_ns >= self._next_note_ns:
            self._next_note_ns = now_ns + _NOTE_NS
            self._pace.note(steps, now_ns, cpu_time_of(thread))
        self._keep_ended()
        if not self._is_young and not self._pace.is_slower:
            self._tell()
            self._are_news = True
            return {}
        if self._is_young and self._pace.is_slower and not self._was_slower:
            self._tell()  # what it was like before: else a jump within a set hides in it
        self._was_slower = self._pace.is_slower
        self._sample(thread, held)
        self._waited_ns = _waited_for_a_core()
        return {}

    def look_late(self, seconds: float) -> None:
        """Keeps the place that held the interpreter's lock, for the sample that comes now.

        Args:
          seconds: So much too late this thread woke up. Where it waited for a core meanwhile,
            the other thread was anywhere, and nothing is kept.
        """
        assert self._frames is not None
        stack = stack_of(self._frames().get(self._context.stopwatch.thread))
        place = place_of(program_frame(stack))
        is_own = place is not None and self._is_own(place, stack[0])
        before, now = self._waited_ns, _waited_for_a_core()
        waited = before is None or now is None or now - before >= _MOSTLY * seconds * 1e9
        if place is not None and not waited:
            self._held = place, [*self._tell_caller(stack, place), *[stack_samples.OWN] * is_own]

    def stop(self) -> None:
        """Tells what was seen since the last set, if it is enough.

        Not what was seen after the last step: datasets are taken down, models are saved.
        """
        self._keep_ended()
        self._tell()

    def _sample(self, thread: int, held: tuple[Place, list[str]] | None) -> None:
        assert self._frames is not None
        if held is not None:
            self._add(*held)
        else:
            self._wait((self._context.clock.monotonic_ns() - self.due_ns) / 1e9)
            self._look(thread, self._frames)
        if self._seen.total() >= self._wanted():
            self._are_news &= self._is_young
            self._tell()

    def _look(self, thread: int, frames: Frames) -> None:
        stack, others = _stacks_in(frames(), thread)
        place = place_of(program_frame(stack))
        if place is not None:
            frame = stack[0]
            inside = libraries_of(frame)
            at = frame.f_lasti
            is_own = self._is_own(place, frame)  # now: to look for a wait takes a while
            self._input.update(places_of_input(others))
            feeds = self._feeding.feeds(frame)
            if not self._context.stopwatch.opened:  # else an account holds it
                wait = self._find_wait(thread, frames)
                if wait == "briefly":  # neither a wait nor Python's own work, for all that is seen
                    wait, is_own = "", False
                if wait:
                    inside.append(f"{stack_samples.WAITS}{wait}")
                    inside += self._tell_others(thread, frames)
                elif feeds:
                    inside.append(stack_samples.FEEDS)
                elif is_own and not self._stands_still(thread, frames, frame, at):
                    inside.append(stack_samples.OWN)
                elif converts_list(frame):
                    inside.append(stack_samples.CONVERTS)
                elif is_given_array(frame):
                    inside.append(stack_samples.COPIES)
                elif runs_no_graph(frame):
                    place = place_of(caller_of_model(stack)) or place
                    inside.append(stack_samples.NO_GRAPH)
                    if self._goes_on(thread, frames, frame, at):
                        inside.append(stack_samples.LONG_OPERATION)
                elif trains_eagerly(frame):
                    inside.append(stack_samples.EAGER_TRAINING)
                    if self._goes_on(thread, frames, frame, at):
                        inside.append(stack_samples.LONG_TRAINING)
                elif runs_graph(frame):
                    inside.append(stack_samples.GRAPH)
            self._add(place, [*inside, *self._tell_caller(stack, place)])

    def _tell_caller(self, stack: Stack, place: Place) -> list[str]:
        code = find_caller(stack, place[0])
        if code is None:
            return []
        return [stack_samples.CALLED_BY + self._places.in_code(code, code.co_firstlineno)]

    def _tell_others(self, thread: int, frames: Frames) -> list[str]:
        """Where the other threads of the program are: one of them is waited for."""
        stacks = {each: stack_of(frame) for each, frame in frames().items()}
        others = places_of_others(thread, stacks, self._places)
        return [f"{stack_samples.BESIDE}{place}" for place in others]

    def _stands_still(self, thread: int, frames: Frames, frame: FrameType, at: int) -> bool:
        """Whether one call of C goes on, such as NumPy's of a large array: no work of Python's."""
        self._pause(_STILL_SECONDS)
        return frames().get(thread) is frame and frame.f_lasti == at

    def _goes_on(self, thread: int, frames: Frames, frame: FrameType, at: int) -> bool:
        """Whether an operation does, and no other thread is waited for, as replicas do."""
        is_lock = frame.f_code.co_filename == threading.__file__
        return not is_lock and self._stands_still(thread, frames, frame, at)

    def _is_own(self, place: Place, innermost: FrameType) -> bool:
        """Whether Python runs that is neither TensorFlow's nor in an account."""
        return not self._context.stopwatch.opened and calls_no_tensorflow(place[0], innermost)

    def _add(self, place: Place, inside: list[str]) -> None:
        self._keep_ended()
        self._open.append((place, inside))

    def _keep_ended(self) -> None:
        """What was seen in a step counts when it has ended."""
        steps = self._context.steps_finished()
        if steps == self._steps:
            return
        self._steps = steps
        for place, inside in self._open:
            self._seen[place] += 1
            self._inside.setdefault(place, Counter()).update(inside)
        self._open.clear()

    @property
    def _is_young(self) -> bool:
        return self._sets < len(_FIRST_SETS)

    def _wanted(self) -> int:
        if self._is_young:
            return _FIRST_SETS[self._sets]
        return _SAMPLES_OF_NEWS if self._are_news else _SAMPLES << self._sets // _SETS_OF_A_SIZE

    def _tell(self) -> None:
        of = self._seen.total()
        if of >= (_FEWEST_OF_FIRST if self._is_young else _FEWEST):
            self._sets += 1
            told: dict[str, Counter[str]] = {}
            for (code, line), samples in self._seen.items():
                counted = told.setdefault(self._places.in_code(code, line), Counter())
                counted[stack_samples.SAMPLES] += samples
                counted.update(self._inside.get((code, line), {}))
            most = sorted(told.items(), key=lambda each: -each[1][stack_samples.SAMPLES])
            for subject, counted in most[:_PLACES]:
                numbers = {**counted, stack_samples.OF: of}
                self._context.emit(Fact(PYTHON_STACK, subject, numbers))
            for (code, line), samples in self._input.most_common(_PLACES):
                numbers = {stack_samples.SAMPLES: samples, stack_samples.OF: self._input.total()}
                self._context.emit(Fact(INPUT_LINE, self._places.in_code(code, line), numbers))
        self._input.clear()
        self._seen.clear()
        self._inside.clear()


def _stacks_in(shown: Mapping[int, FrameType], thread: int) -> tuple[Stack, list[Stack]]:
    """That of a thread, and those of others, but of the calling one and of those that wait.

    To look at a stack stops collections for some microseconds: few are looked at, the one first.
    """
    stack = stack_of(shown.get(thread))
    apart = (thread, threading.get_ident())
    others = [
        stack_of(frame)
        for each, frame in shown.items()
        if each not in apart and frame.f_code.co_filename != threading.__file__
    ]
    return stack, others


def _waited_for_a_core() -> int | None:
    """Nanoseconds that this thread did, ever; None where it can't be known."""
    times = scheduled(threading.get_ident())
    return times and times[1]

"""When captures are taken, on what budget, and that a failing profiler disturbs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.slowdown_detector import (
    BLOCK_STEPS,
    LivePace,
)
from tb_slowdown_plugin.records.types import Fact, StepTable
from tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown import STEPS, SlowdownCaptures
from tb_slowdown_plugin.writer.steps import profiler_annotation as annotation
from tb_slowdown_plugin.writer.steps.profiler_annotation import find_profiler
from tb_slowdown_plugin.writer.steps.recorder import Recorder


def chunk(seconds: float, blocks: int) -> StepTable:
    noise = 1.0 + 0.02 * np.sin(np.arange(blocks * BLOCK_STEPS))
    table = event_files.make_steps(blocks * BLOCK_STEPS, seconds=seconds)
    from dataclasses import replace

    return replace(table, period_seconds=seconds * noise)


@dataclass
class FakeProfiler:
    took_seconds: float = 0.01
    on: bool = False
    breaks: str = ""
    log: list[str] = field(default_factory=list)
    clock: FakeTime | None = None
    give_way: Callable[[], None] | None = None

    def is_on(self) -> bool:
        return self.on

    def start(self, logdir: str, give_way: Callable[[], None]) -> None:
        self.give_way = give_way
        self.log.append(f"start {logdir}")
        if self.breaks == "start":
            raise RuntimeError("no profiler")
        self.on = True

    def stop(self) -> None:
        self.log.append("stop")
        if self.clock is not None:
            self.clock.now += self.took_seconds
        if self.breaks == "stop":
            raise RuntimeError("disk full")
        self.on = False

    def saved(self, logdir: str) -> tuple[str, int]:
        return f"session{self.log.count('stop')}", 1000


@dataclass
class FakeTime:
    now: float = 0.0

    def clock(self) -> Clock:
        return Clock(monotonic_ns=lambda: int(self.now * 1e9), unix_seconds=lambda: self.now)


class Loop:
    """A run that is fed chunk by chunk, and steps in between."""

    def __init__(self, **profiler: object) -> None:
        self.time = FakeTime()
        self.recorder = Recorder(self.time.clock())
        self.failures: list[tuple[str, ...]] = []
        self.profiler = FakeProfiler(clock=self.time, **profiler)  # type: ignore[arg-type]
        self.captures = SlowdownCaptures(
            self.recorder, "logs", self.profiler, lambda *failure: self.failures.append(failure)
        )

    def run(self, seconds: float, blocks: int = 8) -> None:
        self.time.now += seconds * blocks * BLOCK_STEPS
        self.captures.observe(chunk(seconds, blocks))
        for _ in range(2 * STEPS):
            with self.recorder:
                self.time.now += seconds

    def facts(self) -> list[Fact]:
        return [e.what for e in self.recorder.events if isinstance(e.what, Fact)]


def test_one_capture_when_steady_and_one_when_slower() -> None:
    loop = Loop()
    for seconds in (0.1, 0.1, 0.1, 0.2, 0.2, 0.2):
        loop.run(seconds)
    assert loop.profiler.log == ["start logs", "stop"] * 2
    steady, slower = loop.facts()
    assert (steady.name, steady.subject) == ("automatic_capture", "session1")
    assert (steady.numbers["slower"], slower.numbers["slower"]) == (0.0, 1.0)
    assert steady.numbers["bytes"] == 1000
    assert loop.failures == []


def test_a_capture_is_ten_steps_long() -> None:
    loop = Loop()
    loop.time.now = 100.0
    loop.captures.observe(chunk(0.1, 8))
    during = []
    for _ in range(20):
        with loop.recorder:
            during.append(loop.profiler.on)
    assert during == [False] + [True] * STEPS + [False] * (20 - STEPS - 1)


def test_a_capture_of_long_steps_ends_after_five_seconds() -> None:
    loop = Loop()
    loop.time.now = 1e4
    loop.captures.observe(chunk(3.0, 8))
    for _ in range(3):
        with loop.recorder:
            loop.time.now += 3.0
    assert loop.profiler.log == ["start logs", "stop"]


def test_at_most_four_captures() -> None:
    loop = Loop()
    for level in range(8):
        for _ in range(3):
            loop.run(0.1 * 1.5**level)
    assert loop.profiler.log.count("start logs") == 4


def test_at_most_one_percent_of_the_run() -> None:
    loop = Loop(took_seconds=2.0)
    for seconds in (0.1, 0.1, 0.2, 0.2):
        loop.run(seconds)
    assert loop.time.now < 400.0
    assert loop.profiler.log.count("start logs") == 1
    loop.time.now = 1000.0
    loop.run(0.2)
    assert loop.profiler.log.count("start logs") == 2


def test_a_young_run_is_left_alone() -> None:
    loop = Loop()
    loop.captures.observe(chunk(0.001, 8))
    with loop.recorder:
        pass
    assert loop.profiler.log == []


def test_never_while_another_capture_is_on() -> None:
    loop = Loop(on=True)
    loop.run(0.1)
    loop.run(0.1)
    assert loop.profiler.log == []
    loop.profiler.on = False
    loop.run(0.1)
    assert loop.profiler.log == ["start logs", "stop"]


@pytest.mark.parametrize(("breaks", "reason"), [("start", "no profiler"), ("stop", "disk full")])
def test_a_failing_profiler_is_reported_once_and_left_alone(breaks: str, reason: str) -> None:
    loop = Loop(breaks=breaks)
    for seconds in (0.1, 0.1, 0.2, 0.2):
        loop.run(seconds)
    assert loop.profiler.log.count("start logs") == 1
    ((part, recorded, said),) = loop.failures
    assert part == "profile_on_slowdown"
    assert recorded == f"RuntimeError in {breaks}"
    assert said == f"RuntimeError: {reason}"
    assert loop.recorder.rows == 80


def test_the_end_of_the_run_ends_a_capture() -> None:
    loop = Loop()
    loop.time.now = 100.0
    loop.captures.observe(chunk(0.1, 8))
    with loop.recorder:
        pass
    assert loop.profiler.on
    loop.captures.close()
    assert not loop.profiler.on
    loop.captures.close()
    assert loop.profiler.log == ["start logs", "stop"]


def test_ours_gives_way_to_a_capture_of_the_program() -> None:
    loop = Loop()
    loop.time.now = 100.0
    loop.captures.observe(chunk(0.1, 8))
    with loop.recorder:
        pass
    assert loop.profiler.give_way is not None
    loop.profiler.give_way()
    assert loop.profiler.log == ["start logs", "stop"]
    for _ in range(20):
        with loop.recorder:
            pass
    assert loop.profiler.log == ["start logs", "stop"]


def test_single_slow_steps_are_no_slowdown() -> None:
    pace = LivePace()
    assert pace.add(chunk(0.01, 4)) == "steady"
    from dataclasses import replace

    steps = chunk(0.01, 8)
    periods = steps.period_seconds.copy()
    periods[::10] = 3.0
    assert pace.add(replace(steps, period_seconds=periods)) == "steady"
    assert pace.add(chunk(0.013, 1)) == "steady"
    assert pace.add(chunk(0.013, 1)) == "slower"


def test_a_run_that_never_settles_is_not_called_slower() -> None:
    pace = LivePace()
    assert {pace.add(chunk(0.01 * (1 + n % 3), 1)) for n in range(30)} == {"unsettled"}


def test_a_level_under_noise_is_a_level() -> None:
    """A busy machine: no three medians agree, and none is far off."""
    pace = LivePace()
    noise = [1.0, 1.3, 1.15, 1.4, 1.05, 1.25]
    said = [pace.add(chunk(0.01 * noise[n % 6], 1)) for n in range(40)]
    assert said == ["unsettled"] * 11 + ["steady"] * 29
    assert [pace.add(chunk(0.0155, 1)) for _ in range(2)] == ["steady", "slower"]


def test_a_run_that_grows_is_no_noisy_level() -> None:
    pace = LivePace()
    noise = [1.0, 1.3, 1.15]
    said = {pace.add(chunk(0.01 * noise[n % 3] * 1.03**n, 1)) for n in range(24)}
    assert said == {"unsettled"}


def test_every_form_of_the_profilers_switch_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable in TensorFlow 2.16, a function in 2.21; neither in one that is to come."""
    name = "tensorflow.python.profiler.trace"
    module = ModuleType(name)
    monkeypatch.setattr(annotation, "import_module", lambda asked: {name: module}[asked])
    assert find_profiler()() is False
    module.enabled = False  # type: ignore[attr-defined]
    is_on = find_profiler()
    assert is_on() is False
    module.enabled = True  # type: ignore[attr-defined]
    assert is_on() is True
    module.enabled = lambda: "asked"  # type: ignore[attr-defined]
    assert find_profiler()() == "asked"

"""Stack samples of a training thread that gets slower, on a clock that the test sets."""

import itertools
import json
import os
import sys
import threading

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.python import stacks as python_stacks
from tb_slowdown_plugin.collectors.python.stacks import PythonStacks
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.slowdown_detector import StepPace
from tb_slowdown_plugin.collectors.timing.thread_files import cpu_time_of
from tb_slowdown_plugin.records.types import Fact

HERE = "tests/unit/collectors/python/test_stacks.py"


class Replay:
    def sample(self, then):
        return then()

    def store(self, then):
        return then()


class Training:
    """Steps on a fake clock; `within` runs the collector's read inside a function of the user."""

    def __init__(self, recording, monkeypatch):
        self.now_ns = 0
        self.cpu_ns = 0
        self.recording = recording
        recording.clock = Clock(monotonic_ns=lambda: self.now_ns)
        recording.__post_init__()
        monkeypatch.setattr(python_stacks, "cpu_time_of", lambda thread: self.cpu_ns)
        self.collector = PythonStacks(wait=lambda late: None, pause=lambda seconds: None)
        self.collector.start(recording.context)

    def run(self, reads, where, step_ms=100, cpu_ms=50):
        """A read after each 10 steps."""
        for _ in range(reads):
            self.recording.steps += 10
            self.now_ns += 10 * step_ms * 1_000_000
            self.cpu_ns += 10 * cpu_ms * 1_000_000
            assert where(self.collector.read) == {}

    def end_step(self):
        self.recording.steps += 1


@pytest.fixture
def training(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    return Training(recording, monkeypatch)


OF_OTHERS = ("by:", "beside:")


def stacks(recording):
    """Places with what is counted of them, without callers and other threads."""
    return [
        (fact.subject, {key: n for key, n in fact.numbers.items() if not key.startswith(OF_OTHERS)})
        for fact in recording.of(Fact)
    ]


def line_of(method):
    return method.__code__.co_firstlineno + 1


def test_steps_that_keep_their_pace_are_sampled_once_for_comparison(recording, training):
    training.run(18, Replay().sample)
    training.run(552, Replay().store)
    prefix = "Replay." if sys.version_info >= (3, 11) else ""
    sample = f"{prefix}sample ({HERE}:{line_of(Replay.sample)})"
    store = f"{prefix}store ({HERE}:{line_of(Replay.store)})"
    assert stacks(recording) == [
        (sample, {"samples": 10, "of": 10}),
        (sample, {"samples": 8, "of": 10}),
        (store, {"samples": 2, "of": 10}),
        (store, {"samples": 10, "of": 10}),
        (store, {"samples": 20, "of": 20}),
        (store, {"samples": 20, "of": 20}),
        (store, {"samples": 30, "of": 30}),
    ]


def test_a_run_of_a_few_seconds_has_two_sets(recording, training):
    """Ten seconds at a sample in 0.4 s: what grew in them is seen."""
    training.run(14, Replay().store)
    training.run(9, Replay().sample)
    training.collector.stop()
    told = stacks(recording)
    assert [numbers["of"] for _, numbers in told] == [10, 10, 10], told


def test_a_jump_within_the_first_samples_ends_them(recording, training):
    training.run(33, Replay().store)
    training.run(75, Replay().sample, step_ms=200)
    training.end_step()
    training.collector.stop()
    told = [
        (place.partition(" ")[0].rpartition(".")[2], numbers["samples"], numbers["of"])
        for place, numbers in stacks(recording)
    ]
    before, after = told[:5], told[5:]
    assert before[:3] == [("store", 10, 10)] * 3
    assert before[3:] == [("store", 3, 5), ("sample", 2, 5)]
    assert after == [("sample", 20, 20), ("sample", 30, 30), ("sample", 23, 23)]


@pytest.mark.parametrize("slower", [{"step_ms": 120}, {"cpu_ms": 60}])
def test_a_drift_of_wall_or_cpu_time_is_sampled_until_it_ends(recording, training, slower):
    training.run(75, Replay().store)
    recording.events.clear()
    training.run(80, Replay().sample, **slower)
    training.run(40, Replay().store)
    told = stacks(recording)
    assert [numbers["samples"] for _, numbers in told if numbers["of"] == 30] == [30]
    assert all("sample" in place or numbers["samples"] <= 10 for place, numbers in told)
    recording.events.clear()
    training.run(200, Replay().store)
    assert stacks(recording) == []


def test_a_long_suspicion_is_told_ever_more_rarely(recording, training):
    training.run(60, Replay().store)
    training.run(60_000, Replay().sample, step_ms=300)
    sizes = [numbers["of"] for _, numbers in stacks(recording)]
    assert sizes[:8] == [10, 10, 10, 20, 10, 30, 30, 60]
    assert sizes[8:16] == [60] * 8
    assert sizes[4:] == sorted(sizes[4:])
    assert len(sizes) < 120


def test_a_frame_of_a_library_counts_for_the_users_line_that_called_it(recording, training):
    def train(read):
        return json.loads("1", parse_int=lambda _: read())

    training.run(60, train)
    # The lambda is the user's as well, and the innermost.
    assert {place for place, _ in stacks(recording)} == {
        f"<lambda> ({HERE}:{train.__code__.co_firstlineno + 1})"
    }


def test_the_function_that_called_the_place_is_counted(recording, training):
    def train(read):
        return Replay().sample(read)

    training.run(11, train)
    (fact,) = recording.of(Fact)
    name = train.__code__.co_qualname if sys.version_info >= (3, 11) else "train"
    called_by = f"by:{name.rpartition('.')[2]} ({HERE}:{train.__code__.co_firstlineno})"
    assert fact.numbers[called_by] == 10


def test_beside_a_wait_it_counts_where_the_other_threads_of_the_program_are(recording, training):
    arrived, leave = threading.Event(), threading.Event()

    def hold():
        arrived.set()
        leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    arrived.wait()
    training.collector._find_wait = lambda *_: "inside"
    try:
        training.run(11, Replay().sample)
    finally:
        leave.set()
        thread.join()
    (fact,) = recording.of(Fact)
    assert fact.numbers["waits_inside"] == 10
    others = {name: n for name, n in fact.numbers.items() if name.startswith("beside:")}
    assert others[f"beside:hold ({HERE}:{hold.__code__.co_firstlineno + 2})"] == 10


def test_a_line_of_a_comprehension_and_of_its_function_is_one_place(recording, training):
    turns = itertools.cycle([True, False])

    def train(read):
        return read() if next(turns) else [read() for _ in "a"][0]  # noqa: RUF015

    training.run(11, train)
    ((_, numbers),) = stacks(recording)
    assert numbers["samples"] == 10


def test_samples_in_no_library_and_no_account_are_the_programs_own(recording, training):
    def count():  # each time in another frame
        return {threading.get_ident(): sys._getframe()}

    training.run(10, Replay().sample)  # in the collector's code, as in that of a library
    training.collector._frames = count
    training.run(10, Replay().sample)
    still = count()
    training.collector._frames = lambda: still  # in one call of C
    training.run(10, Replay().sample)
    training.collector._frames = count
    recording.stopwatch.open("input_wait")
    training.run(21, Replay().sample)
    assert [numbers.get("own") for _, numbers in stacks(recording)] == [None, 10, None, None]


@pytest.mark.parametrize(
    ("wait", "numbers"), [("", {"own": 10}), ("briefly", {}), ("paused", {"waits_paused": 10})]
)
def test_what_waits_for_a_moment_is_neither_a_wait_nor_work(recording, training, wait, numbers):
    def count():  # each time in another frame
        return {threading.get_ident(): sys._getframe()}

    training.collector._frames = count
    training.collector._find_wait = lambda *_: wait
    training.run(11, Replay().sample)
    ((_, told),) = stacks(recording)
    assert told == {"samples": 10, "of": 10, **numbers}


@pytest.mark.parametrize(
    ("module", "own"),
    [
        ("numpy._core.numeric", 10),
        ("tensorflow.python.ops.math_ops", None),
        ("keras.src.layers.layer", None),
    ],
)
def test_a_library_that_the_program_calls_runs_its_python_and_tensorflow_does_not(
    recording, training, module, own
):
    arrived, leave, gone = threading.Event(), threading.Event(), []
    library = {"__name__": module, "arrived": arrived, "leave": leave}
    code = "def roll():\n    arrived.set()\n    leave.wait()"
    exec(compile(code, os.__file__, "exec"), library)  # in a file of Python's own

    def shift():
        library["roll"]()

    thread = threading.Thread(target=shift)
    thread.start()
    arrived.wait()

    def frames():
        if gone:  # a moment later it is somewhere else
            gone.clear()
            return {}
        frame = sys._current_frames()[thread.ident]
        while frame.f_code.co_name != "roll":  # above it are the frames of the event
            frame = frame.f_back
        return {threading.get_ident(): frame}

    training.collector._frames = frames
    training.collector._pause = gone.append
    training.collector._find_wait = lambda *_: ""
    try:
        training.run(10, Replay().sample)
        training.run(1, Replay().sample)
    finally:
        leave.set()
        thread.join()
    assert [(place, numbers.get("own")) for place, numbers in stacks(recording)] == [
        (f"shift ({HERE}:{shift.__code__.co_firstlineno + 1})", own)
    ]


@pytest.mark.parametrize(("waited_share", "line"), [(0.0, "hold"), (0.4, "hold"), (0.6, "sample")])
def test_what_held_the_lock_is_the_place_unless_a_core_was_missing(
    recording, training, monkeypatch, waited_share, line
):
    """It wakes up 0.4 s late in `hold`, and `read` comes when the thread has gone on."""
    waited = [0]
    monkeypatch.setattr(python_stacks, "scheduled", lambda thread: (0, waited[0]))
    training.run(1, Replay().sample)

    def hold(look_late):
        waited[0] += int(waited_share * 0.4e9)
        return look_late(0.4)

    for _ in range(9):
        hold(training.collector.look_late)
        training.run(1, Replay().sample)
    training.end_step()
    training.collector.stop()
    assert [numbers["samples"] for place, numbers in stacks(recording) if line in place] == [
        9 + (line == "sample")
    ]


def test_a_look_that_is_no_sample_is_forgotten(recording, training):
    training.run(110, Replay().store)
    recording.events.clear()
    (lambda look: look(0.4))(training.collector.look_late)
    training.run(1, Replay().store)  # steps keep their pace: no sample
    training.run(80, Replay().sample, step_ms=200)
    assert not any("lambda" in place for place, _ in stacks(recording))


def test_what_is_pending_is_told_at_the_end_if_it_is_enough(recording, training):
    training.run(29, Replay().store)
    training.end_step()
    training.collector.stop()
    assert [numbers["of"] for _, numbers in stacks(recording)] == [10, 10, 9]
    training.run(4, Replay().store)
    training.collector.stop()
    assert len(stacks(recording)) == 3


def test_what_is_seen_after_the_last_step_is_of_none(recording, training):
    """Such as a dataset that is taken down, or a file that is saved."""
    training.run(7, Replay().store)
    for _ in range(40):
        Replay().sample(training.collector.read)
    training.collector.stop()
    ((place, numbers),) = stacks(recording)
    assert "store" in place
    assert numbers == {"samples": 6, "of": 6}


def test_what_is_seen_in_a_long_step_is_told_when_it_has_ended(recording, training):
    training.run(3, Replay().store)
    for _ in range(40):
        Replay().sample(training.collector.read)
    assert stacks(recording) == []
    training.run(1, Replay().store)
    assert {numbers["of"] for _, numbers in stacks(recording)} == {43}


def test_before_the_first_step_nothing_is_sampled(recording, training):
    assert training.collector.read() == {}
    training.collector.stop()
    assert recording.events == []


def test_a_python_without_frames_says_so(recording, monkeypatch):
    monkeypatch.delattr(sys, "_current_frames")
    with pytest.raises(Unavailable, match="frames of other threads"):
        PythonStacks().start(recording.context)


def test_pace_needs_enough_steps_and_recovers():
    pace = StepPace()
    for n in range(30):
        pace.note(n, n * 1_000, None)  # 29 steps: one stretch
    assert not pace.is_slower
    for n in range(30):
        pace.note(30 + n, 30_000 + n * 2_000, None)
    assert pace.is_slower
    for n in range(60):
        pace.note(60 + n, 90_000 + n * 1_000, None)
    assert not pace.is_slower


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells CPU time a thread")
def test_cpu_time_of_a_thread_that_works_and_of_one_that_is_gone():
    me = threading.get_ident()
    before = cpu_time_of(me)
    sum(range(2_000_000))
    assert cpu_time_of(me) - before > 1_000_000
    gone = threading.Thread(target=lambda: None)
    gone.start()
    ident = gone.ident
    gone.join()
    assert cpu_time_of(ident) is None

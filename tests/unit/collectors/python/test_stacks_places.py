"""What a sample of the stack says: the program's line, who called it, and whose code runs."""

import itertools
import json
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from unit.collectors.stack_training import Replay, stacks

from tb_slowdown_plugin.collectors.python import stacks as python_stacks
from tb_slowdown_plugin.records.types import Fact

HERE = "tests/unit/collectors/python/test_stacks_places.py"


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


def test_lines_of_threads_that_make_input_are_told_apart(recording, training, monkeypatch):
    code = test_the_function_that_called_the_place_is_counted.__code__

    def of_input(stacks):
        return [(code, code.co_firstlineno + 2)]

    monkeypatch.setattr(python_stacks, "places_of_input", of_input)
    training.run(11, Replay().sample)
    (fact,) = (each for each in recording.of(Fact) if each.name == "input_line")
    assert fact.subject == f"{code.co_name} ({HERE}:{code.co_firstlineno + 2})"
    assert fact.numbers == {"samples": 11, "of": 11}


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


@pytest.mark.parametrize(("size", "counted"), [(2_000_000, 10), (1000, 0)], ids=["large", "small"])
def test_a_large_array_that_is_made_a_tensor_counts(recording, training, size, counted):
    library = {"__name__": "tensorflow.python.framework.constant_op"}
    code = "def convert_to_eager_tensor(value, read): return read()"
    file = Path(os.__file__).parent / "tensorflow/python/framework/constant_op.py"
    exec(compile(code, str(file), "exec"), library)

    def show():
        frame = sys._getframe()
        while frame.f_code.co_name != "convert_to_eager_tensor":
            frame = frame.f_back
        return {threading.get_ident(): frame}

    training.collector._frames = show
    training.collector._find_wait = lambda *_: ""
    values = np.zeros(size, np.float32)
    training.run(11, lambda read: library["convert_to_eager_tensor"](values, read))
    assert sum(numbers.get("copies", 0) for _, numbers in stacks(recording)) == counted


def test_a_wait_for_another_replica_is_no_operation_that_goes_on(recording, training):
    training.run(11, Replay().sample)
    collector, ident = training.collector, threading.get_ident()

    def look(goes_on):
        frame = sys._getframe(1)
        return goes_on(ident, lambda: {ident: frame}, frame, frame.f_lasti)

    library = {"look": look}
    for file, goes_on in ((threading.__file__, False), ("/usr/lib/gen_math_ops.py", True)):
        exec(compile("def wait(goes_on): return look(goes_on)", file, "exec"), library)
        assert library["wait"](collector._goes_on) is goes_on


def test_a_list_that_is_made_a_tensor_is_no_operation_of_the_model(recording, training):
    library = {"__name__": "tensorflow.python.ops.array_ops"}
    code = "def _should_not_autopack(read): return read()"
    exec(compile(code, os.__file__, "exec"), library)  # in a file of Python's own

    def frames():
        frame = sys._getframe()
        while (
            frame.f_code.co_name != "_should_not_autopack"
        ):  # above it are the frames of the collector
            frame = frame.f_back
        return {threading.get_ident(): frame}

    training.collector._frames = frames
    training.collector._find_wait = lambda *_: ""
    training.run(11, lambda read: library["_should_not_autopack"](read))
    ((_, numbers),) = stacks(recording)
    assert numbers["converts"] == 10
    assert "no_graph" not in numbers

"""`on_slowdown` in real trainings: called once for each thing, and the training goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from of_a_kind import few

pytestmark = [pytest.mark.timed, pytest.mark.patient, pytest.mark.tensorflow, pytest.mark.slow]
pytest.importorskip("tensorflow")

PROGRAM = Path(__file__).with_name("slowing_with_calls.py")
RAISES = ("custom", "slower", "raise")
IN_THE_GATE = (RAISES, ("custom", "stall", "print"), ("keras", "none", "print"))
"""LOOP, CHANGE, and FUNCTION of the programs that are started with the first one: they sleep."""


def further(*chosen):
    return pytest.param(chosen, marks=pytest.mark.further)


@pytest.fixture(scope="module")
def train(host, tmp_path_factory):
    """Trains; gives the events, the steps of the program, its stderr, and its logdir."""
    folder = tmp_path_factory.mktemp("called")
    running = {}

    def start(chosen):
        logdir = folder / "_".join(chosen)
        loop, change, function = chosen
        running[chosen] = host.start_script(PROGRAM, loop, logdir, change, function), logdir

    def ended(chosen):
        if not running:
            for each in IN_THE_GATE:
                start(each)
        if chosen not in running:
            start(chosen)
        training, logdir = running[chosen]
        done = training.wait(180)
        assert done.returncode == 0, done.stderr
        *events, last = done.stdout.splitlines()
        return [json.loads(event) for event in events], int(last.split()[1]), done.stderr, logdir

    return ended


@pytest.mark.parametrize(
    "chosen",
    [RAISES, further("keras", "slower", "block"), further("custom", "slower", "stop")],
)
def test_a_training_that_gets_slower_calls_once_and_goes_on(train, chosen):
    (event,), steps, stderr, logdir = train(chosen)
    assert event["kind"] == "slower"
    assert event["step_seconds"] > 1.5 * event["before_step_seconds"]
    assert event["step"] < steps - 64
    assert event["text"].endswith(f"To see why: tbslow report {logdir}")
    told = stderr.count("on_slowdown failed (ValueError: no such channel); training goes on")
    assert told == (chosen[2] == "raise")
    assert "Traceback" not in stderr


def test_a_training_that_stalls_calls_when_that_begins_and_ends(train):
    events, _, _, _ = train(("custom", "stall", "print"))
    assert [event["kind"] for event in events] == ["stall", "stall_over"]
    assert all(event["place"].startswith("waits_for_lock (") for event in events)
    begin, over = events
    assert 3.0 <= begin["stalled_seconds"] < 8.0 <= over["stalled_seconds"] < 14.0


@pytest.mark.parametrize("loop", few(["custom", "keras"], "keras"))
def test_a_healthy_twin_calls_nothing(train, loop):
    events, steps, stderr, _ = train((loop, "none", "print"))
    assert events == []
    assert steps > 100
    assert "slowdown monitor" not in stderr

"""`on_slowdown` in real trainings: called once for each thing, and the training goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from of_a_kind import few

pytestmark = [pytest.mark.timed, pytest.mark.tensorflow, pytest.mark.slow]
pytest.importorskip("tensorflow")

PROGRAM = Path(__file__).with_name("slowing_with_calls.py")


def train(tmp_path, *chosen):
    """The events, the steps of the program, and its stderr."""
    loop, change, function = chosen
    done = subprocess.run(
        [sys.executable, str(PROGRAM), loop, str(tmp_path / "logs"), change, function],
        check=True,
        capture_output=True,
        text=True,
        timeout=180,
    )
    *events, last = done.stdout.splitlines()
    return [json.loads(event) for event in events], int(last.split()[1]), done.stderr


@pytest.mark.parametrize(
    "chosen",
    [
        ("custom", "slower", "raise"),
        pytest.param(("keras", "slower", "block"), marks=pytest.mark.further),
        pytest.param(("custom", "slower", "stop"), marks=pytest.mark.further),
    ],
)
def test_a_training_that_gets_slower_calls_once_and_goes_on(tmp_path, chosen):
    (event,), steps, stderr = train(tmp_path, *chosen)
    assert event["kind"] == "slower"
    assert event["step_seconds"] > 1.5 * event["before_step_seconds"]
    assert event["step"] < steps - 64
    assert event["text"].endswith(f"To see why: tbslow report {tmp_path / 'logs'}")
    told = stderr.count("on_slowdown failed (ValueError: no such channel); training goes on")
    assert told == (chosen[2] == "raise")
    assert "Traceback" not in stderr


def test_a_training_that_stalls_calls_when_that_begins_and_ends(tmp_path):
    events, _, _ = train(tmp_path, "custom", "stall", "print")
    assert [event["kind"] for event in events] == ["stall", "stall_over"]
    assert all(event["place"].startswith("waits_for_lock (") for event in events)
    begin, over = events
    assert 3.0 <= begin["stalled_seconds"] < 8.0 <= over["stalled_seconds"] < 14.0


@pytest.mark.parametrize("loop", few(["custom", "keras"], "keras"))
def test_a_healthy_twin_calls_nothing(tmp_path, loop):
    events, steps, stderr = train(tmp_path, loop, "none", "print")
    assert events == []
    assert steps > 100
    assert "slowdown monitor" not in stderr

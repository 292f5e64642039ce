"""Ctrl-C in each place of a step's edge where Python looks for signals: after calls, and at
the start of functions. A profile function is called there, too, so it raises in their stead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.timing import stopwatch
from tb_slowdown_plugin.writer.steps import recorder as recorders
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening

OURS = {Path(module.__file__ or "").name for module in (recorders, stopwatch)}
PLACES = 60
"""More than there are in a step with an account in it."""
AT_THE_DOOR = ("call", "__exit__")
"""Where a step begins to end: nothing of ours has run yet. docs/robustness.md tells of it."""


def interrupt_at(place: int, recorder: Recorder) -> tuple[str, str] | None:
    """One step, with an interrupt at the place of that number; what was there, if it was reached.

    Args:
      place: 0 for the first.
      recorder: Of which a step is made, with an account open in it.
    """
    seen = 0
    found = None

    def look(frame, event, _) -> None:
        nonlocal seen, found
        if event in ("call", "c_return") and Path(frame.f_code.co_filename).name in OURS:
            seen += 1
            if seen == place + 1:
                found = event, frame.f_code.co_name
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(look)
    try:
        with recorder.prepare(None, 1.0, "train"):
            recorder.stopwatch.open(names.CHECKPOINT)
            recorder.stopwatch.close()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return found


def every_place() -> Iterator[tuple[tuple[str, str], Recorder]]:
    for place in range(PLACES):
        recorder = Recorder()
        with recorder.prepare(None, 1.0, "train"):
            pass
        found = interrupt_at(place, recorder)
        if found is None:
            return
        yield found, recorder
    raise AssertionError("a step has more places than were tried")


def test_an_interrupt_at_the_edge_of_a_step_leaves_none_open() -> None:
    passed = []
    for place, recorder in every_place():
        passed.append(place)
        if place == AT_THE_DOOR:
            recorder.cancel()
        assert not recorder.in_step, place
        with recorder.prepare(None, 1.0, "train"):
            pass
        rows = [entry[0] for entry in recorder.entries if not isinstance(entry, Opening)]
        assert rows == list(range(recorder.rows)), place
    assert ("c_return", "__exit__") in passed
    assert ("c_return", "__enter__") in passed
    assert passed.count(AT_THE_DOOR) == 1
    assert len(passed) > 10


def test_an_interrupt_while_an_account_closes_leaves_it_open_at_the_door_only() -> None:
    for place, recorder in every_place():
        doors = {("call", "close"), ("c_return", "open")}
        assert recorder.stopwatch.depth == 0 or place in doors, place

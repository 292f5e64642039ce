"""An event says all of it in one line, and is JSON."""

from __future__ import annotations

import json

from tb_slowdown_plugin.writer.on_slowdown.pace_watch import Slower
from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import event_of_pace, event_of_stall
from tb_slowdown_plugin.writer.sampling.stall_watch import StallEnd, StallStart

PLACE = "get (data.py:88)"


def test_a_slower_pace_has_its_step_and_both_levels():
    event = event_of_pace(Slower(1473, 0.1, 1.25), 1.8e9, "tbslow report logs")
    assert json.loads(json.dumps(event.to_dict())) == {
        "kind": "slower",
        "time": 1.8e9,
        "step": 1473,
        "before_step_seconds": 0.1,
        "step_seconds": 1.25,
        "since": None,
        "stalled_seconds": None,
        "place": None,
        "text": "Steps got slower at step 1,473: from 100 ms to 1.25 s. "
        "To see why: tbslow report logs",
    }


def test_a_stall_has_its_place_and_time():
    begin = event_of_stall(StallStart(PLACE, 1.8e9, 61.2), 1.8e9 + 61.2)
    assert (begin.kind, begin.place, begin.since, begin.stalled_seconds) == (
        "stall", PLACE, 1.8e9, 61.2,
    )  # fmt: skip
    assert begin.text.endswith(" (61 s): the training thread is in get (data.py:88).")
    over = event_of_stall(StallEnd(PLACE, 1.8e9, 250.0), 1.8e9 + 250.0)
    assert over.kind == "stall_over"
    assert over.text == (
        "Steps end again. None did for 250 s: the training thread was in get (data.py:88)."
    )

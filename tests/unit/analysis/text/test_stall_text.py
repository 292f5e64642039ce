"""Stalls in sentences."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.text.stall_text import describe_meanwhile, describe_past


def test_places_of_a_stall_follow_each_other_and_name_the_work():
    places = ["save (io.py:5)", "<module> (train.py:9)"]
    assert describe_past("step 7", 90.0, places, "checkpoint") == (
        "No step ended for 1 min 30 s before step 7: the training thread was in `save` (io.py:5) "
        "and train.py:9 (checkpoint saves)."
    )


def test_what_is_not_worth_a_word_is_left_out():
    little = {"disk_read_bytes": 1e6, "run_delay_seconds": 1.0, "memory_pressure_seconds": 1.0}
    assert describe_meanwhile(100.0, 1.0, little) == ""
    much = {"disk_written_bytes": 2.0**30, "run_delay_seconds": 20.0}
    assert describe_meanwhile(100.0, 50.0, much) == (
        "In that time the process used 50.0% of a core, wrote 1 GiB to disks and waited 20.0 s "
        "for cores."
    )

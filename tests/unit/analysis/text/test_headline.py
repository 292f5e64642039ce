"""The one sentence above everything."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.text.headline import headline

NOTHING = {"steps": 900, "wall_seconds": 100.0, "lost": [], "unexplained_seconds": 0.0}


def test_a_healthy_run_is_called_so_unless_it_could_not_be_looked_at() -> None:
    assert headline("healthy", **NOTHING) == "Healthy. No slowdown found in 1 min 40 s."
    assert headline("healthy", **NOTHING, blind_spots=["no input was seen"]) == (
        "No slowdown found in what was measured of 1 min 40 s. Partly judged: no input was seen."
    )


def test_the_largest_cause_is_named() -> None:
    told = {**NOTHING, "lost": [("garbage collection", 20.0)]}
    assert headline("slowdown", **told) == "20.0 s of 1 min 40 s lost (20%) to garbage collection."
    told["lost"] = [("garbage collection", 20.0), ("saving", 10.0)]
    assert headline("slowdown", **told).endswith(" lost (30%). Biggest cause: garbage collection.")


def test_what_nobody_can_explain_is_said() -> None:
    told = {**NOTHING, "unexplained_seconds": 20.0}
    assert (
        headline("slowdown", **told) == "20.0 s of 1 min 40 s lost (20%), most of it unexplained."
    )


def test_a_slow_start_is_only_that() -> None:
    told = {**NOTHING, "lost": [("warm-up", 30.0)]}
    assert (
        headline("slow_start", **told)
        == "Slow start: warm-up took 30.0 s of 1 min 40 s. No slowdown after that."
    )


def test_too_few_steps_say_how_many_are_needed_and_what_was_seen() -> None:
    told = {**NOTHING, "steps": 9, "lost": [("warm-up", 30.0)]}
    assert headline("not_enough_steps", **told, steps_needed=100) == (
        "Not enough steps yet: 9 of about 100; so far 1 min 40 s, of which warm-up took 30.0 s."
    )


def test_what_others_took_is_not_the_programs() -> None:
    told = headline("healthy", **NOTHING, external=[("other processes", 25.0)])
    assert told == "The program itself is healthy; 25% of 1 min 40 s was lost to other processes."


def test_what_could_be_spared_is_not_called_healthy():
    spared = "Ends of epochs took 15%, which an option of tf.data shortens."
    assert headline("healthy", **NOTHING, avoidable=spared) == (
        f"No slowdown found in 1 min 40 s. {spared}"
    )
    beside = "59% of it went to `val_step`, in 59 of its steps."
    assert headline("healthy", **NOTHING, beside=beside) == (
        f"Healthy. No slowdown found in 1 min 40 s. {beside}"
    )

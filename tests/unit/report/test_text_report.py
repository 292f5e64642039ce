from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.catalog.causes import CAUSES
from tb_slowdown_plugin.report.ansi import Ink, printable
from tb_slowdown_plugin.report.text_report import (
    LETTERS,
    draw_bar,
    fills,
    to_text,
)

GOLDEN = """\
Run run1
48 min 3 s of 2 h 35 min lost (31%). Biggest cause: retracing of train_step
(train.py:41).

──────────────────────────────────────────────────────██████████████▓▓▓▓▓▓▓▓░
─ Healthy                    6,410.0 s   68.9%
█ Retracing                  1,740.0 s   18.7%
▓ Input pipeline             1,030.0 s   11.1%
░ Unexplained                  120.0 s    1.3%
  Wall                       9,300.0 s          12,345 steps
A healthy step takes 520 ms: the fastest level sustained for at least 5% of the
run (steps 900-2100).

1. Retracing: 1,740.0 s, 18.7% of the run, high confidence
   Steps 1,200\u201312,344, growing. train_step (train.py:41) was traced 278 times.
   - Argument `temperature` is a Python float with a new value every 40 steps,
     so TensorFlow retraces the function.
   - Each trace costs more than the last: 3.4 s at step 1,280, 6.8 s at step
     12,360.
   Fix: Pass a tensor. A tensor's value is not part of the key.
   Example, where `train_step` is called:
      # before: train_step(batch, temperature)
      train_step(batch, tf.constant(temperature))

2. Input pipeline: 1,030.0 s, 11.1% of the run, medium confidence
   Steps 8,200\u201312,344, at a new level. Each step waits 199 ms for data.

Suspects (they move with the unexplained seconds, nothing more is proven)
   - Tensor retention, 40.0 s: allocator bytes grow together with the
     unexplained drift

Not measured
   - gpu_memory: no GPU visible to TensorFlow
   - allocator in part: the CPU reports no allocator numbers

Notes
   - Resumed at step 400.
"""


def test_the_whole_text(slow: Report) -> None:
    assert to_text([slow]) == GOLDEN


@pytest.mark.parametrize("width", [80, 100])
def test_prose_keeps_to_the_width(slow: Report, width: int) -> None:
    assert max(map(len, to_text([slow], width=width).splitlines())) <= width


def test_colour_changes_nothing_but_colour(slow: Report) -> None:
    coloured = to_text([slow], colour=True)
    assert "\x1b[2m# before: train_step(batch, temperature)\x1b[0m" in coloured
    assert "\x1b[32mtrain_step(batch, tf.constant(temperature))\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == GOLDEN


def test_an_empty_run_has_no_ledger(slow: Report) -> None:
    empty = replace(
        slow,
        verdict="not_enough_steps",
        headline="Not enough steps yet: 0 of about 200.",
        steps=0,
        wall_seconds=0.0,
        healthy_step_seconds=None,
        lost_seconds=0.0,
        unexplained_seconds=0.0,
        causes=(),
        suspects=(),
        signals=(),
        notes=(),
    )
    assert to_text([empty]) == "Run run1\nNot enough steps yet: 0 of about 200.\n"


def test_who_has_a_healthy_run_is_told_where_else_to_look(slow: Report) -> None:
    healthy = replace(
        slow, verdict="healthy", headline="Healthy.", causes=(), suspects=(), steady=True
    )
    assert to_text([healthy]).startswith(
        "Run run1\nHealthy.\n"
        "Step time hasn't changed during this run.\n"
        "To measure what a step could be: tbslow try --all PROGRAM.\n\n"
    )
    assert "tbslow try" not in to_text([replace(healthy, source="scalars")])
    assert "Step time" not in to_text([slow])
    assert "Healthy.\nTo measure what a step" in to_text([replace(healthy, steady=False)])


def test_several_runs_stand_one_below_the_other_after_an_overview(slow: Report) -> None:
    long = replace(slow, run="experiments/2026-11-21/batch_64/run2", headline="Healthy.")
    both = to_text([slow, long])
    overview = """\
2 runs
run1                        48 min 3 s of 2 h 35 min lost (31%). Biggest cause:\u2026
experiments/2026-11-21/ba\u2026  Healthy.
"""
    assert both.startswith(f"{overview}\n{GOLDEN}\nRun experiments/2026-11-21/batch_64/run2\n")
    assert max(map(len, overview.splitlines())) <= 80


def test_texts_from_a_logdir_cannot_steer_the_terminal(slow: Report) -> None:
    evil = "\x1b]0;owned\x07\r\n\u202egnp"
    (cause, _) = slow.causes
    text = to_text(
        [
            replace(
                slow,
                run=evil,
                headline=evil,
                notes=(evil,),
                causes=(replace(cause, summary=evil, evidence=(evil,)),),
            )
        ]
    )
    assert not any(c in text for c in "\x1b\x07\r\u202e")
    assert "Run \\x1b]0;owned\\x07\\r\\n\\u202egnp" in text


def test_umlauts_and_other_letters_stay() -> None:
    assert printable("größe 学習 ok") == "größe 学習 ok"


@pytest.mark.parametrize("width", [30, 77, 97])
def test_the_bar_is_as_wide_as_told_and_shows_each_part(width: int) -> None:
    parts = [("healthy", 9000.0), ("retracing", 0.5), ("gc", 0.01), ("unexplained", 3.0)]
    bar = draw_bar(parts, width, Ink(False))
    assert len(bar) == width
    assert [bar.count(fill) for fill in ("█", "▓", "░")] == [1, 1, 1]


def test_a_bar_of_nothing_is_empty() -> None:
    assert draw_bar([("healthy", 0.0)], 40, Ink(False)) == ""


def test_the_largest_causes_differ_without_colour() -> None:
    causes = [cause for cause in CAUSES if cause != "unexplained"][: len(LETTERS)]
    assert len(set(fills(["healthy", *causes, "unexplained"]).values())) == len(LETTERS) + 2


def test_seconds_beyond_the_wall_do_not_break_the_bar() -> None:
    assert len(draw_bar([("healthy", -5.0), ("retracing", 10.0)], 40, Ink(False))) == 40


def test_the_sum_of_a_run_of_parts_of_a_second_has_digits(slow: Report) -> None:
    cause = replace(slow.causes[0], lost_seconds=0.0061, lost_fraction=0.2)
    short = replace(
        slow, wall_seconds=0.0304, lost_seconds=0.0061, unexplained_seconds=0.0, causes=(cause,)
    )
    lines = to_text([short]).splitlines()
    assert "─ Healthy                      0.024 s   79.9%" in lines
    assert "  Wall                         0.030 s          12,345 steps" in lines
    assert "1. Retracing: 0.006 s, 20.0% of the run, high confidence" in lines


def test_a_worker_is_told_with_its_median_step(slow: Report) -> None:
    """Its steps are of two lengths: number times median is not its wall time."""
    worker = {
        "worker": 1,
        "steps": 400,
        "step_seconds": 0.0536,
        "wait_seconds": 0.8,
        "others_wait_seconds": 6.5,
        "straggler": True,
        "reading": "the straggler: last in 390 of 395 late steps, 188 in a row",
    }
    told = to_text([replace(slow, workers=(worker,))], width=200)
    assert (
        "Worker 1: 400 steps (median 53.6 ms), waits 0.80 s in all, the others wait 6.50 s" in told
    )
    assert "for it, the straggler: last in 390 of 395 late steps, 188 in a row" in told

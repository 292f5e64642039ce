"""One screen: as many runs as fit, whatever they are called, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from unit.jobs.looks import cause_of, look_of, stall_of

from tb_slowdown_plugin.analysis.report_types.live import Remaining
from tb_slowdown_plugin.cli.display.watch_table import Screen, plain_line


def draw(looks, width=100, height=24, trouble=""):
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, markup=False, highlight=False)
    console.print(Screen(looks, "logs", 1.8e9, trouble))
    return out.getvalue().splitlines()


def test_a_run_has_step_pace_loss_cause_and_the_first_fix_below():
    lines = draw([look_of(causes=(cause_of(),))])
    assert lines[0].startswith("logs  1 run, 1 live")
    cells = " ".join(lines[2].split())
    assert cells == "run1 live 1,000 145 ms 100 ms 31.0% step 800 Retracing 31.0 s"
    assert lines[3] == "run1: 31.0 s of 1 min 40 s lost (31%)"
    assert lines[4] == "Fix: Pass a tensor."


def test_a_wide_terminal_has_the_fix_of_each_run_and_a_narrow_one_no_baseline():
    looks = [look_of(name, (cause_of(),)) for name in ("run1", "run2")]
    assert [line.split()[-3:] for line in draw(looks, width=160)[2:4]] == [
        ["Pass", "a", "tensor."]
    ] * 2
    assert "Baseline" not in draw(looks, width=80)[1]


def test_what_is_left_of_a_live_run_is_shown():
    left = Remaining(600, 240.0, 180.0, "About 4 min 0 s left (600 steps).")
    lines = draw([look_of(causes=(cause_of(),), remaining=left)], width=120)
    assert " 31.0%  4 min 0 s  step 800 " in lines[2]
    assert lines[4] == left.text
    look = look_of(remaining=left)
    assert plain_line(look) == (
        "run1: step 1,000, 145 ms per step, live. Healthy. About 4 min 0 s left (600 steps)."
    )
    ended = look_of(is_live=False, remaining=left)
    assert "left" not in plain_line(ended)
    assert "4 min" not in "".join(draw([ended]))


def test_causes_of_most_seconds_are_named_and_a_healthy_run_has_no_fix():
    causes = (cause_of("disk", 4.0), cause_of("retracing", 2.0))
    lines = draw([look_of(causes=causes, unexplained_seconds=3.0)], width=120)
    assert "step 800  Disk 4 s, Unexplained 3 s, Retracing 2 s" in lines[2]
    lines = draw([look_of(causes=causes, verdict="healthy")], width=120)
    assert lines[2].split()[-1] == "Healthy"
    assert not any(line.startswith("Fix") for line in lines)


@pytest.mark.parametrize("height", [10, 24, 60])
def test_hundreds_of_runs_stay_on_one_screen(height):
    looks = [look_of(f"run{number}", (cause_of(),)) for number in range(500)]
    lines = draw(looks, height=height)
    assert len(lines) <= height
    shown = sum(line.startswith("run") and "Retracing" in line for line in lines)
    assert f"and {500 - shown} more" in lines


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_are_as_wide_as_the_terminal_at_most(width):
    looks = [look_of("a/very/long/name/of/a/run/" * 4, (cause_of(),))]
    assert max(map(len, draw(looks, width=width))) <= width


def test_stalled_and_ended_runs_and_trouble_are_shown():
    ended = look_of("run2", is_live=False, ended=True)
    looks = [look_of(stall=stall_of()), ended, look_of("run3", is_live=False)]
    lines = draw(looks, trouble="gone")
    assert lines[1] == "gone"
    assert lines[3].split()[:2] == ["run1", "stalled"]
    assert lines[4].split()[:2] == ["run2", "ended"]
    assert lines[5].split()[:2] == ["run3", "silent"]  # killed, or its machine is gone


def test_a_name_can_not_steer_the_terminal():
    text = "\n".join(draw([look_of("\x1b[2J[red]x[/red]")]))
    assert "\\x1b[2J[red]x[/red]" in text
    assert "\x1b" not in text


def test_without_runs_the_screen_says_so():
    assert draw([])[1] == "No runs with slowdown data yet."

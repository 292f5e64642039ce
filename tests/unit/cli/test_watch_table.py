"""One screen: as many runs as fit, whatever they are called, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from unit.jobs.looks import cause_of, look_of, stall_of

from tb_slowdown_plugin.cli.watch_table import Screen


def draw(looks, width=100, height=24, trouble=""):
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, markup=False, highlight=False)
    console.print(Screen(looks, "logs", 1.8e9, trouble))
    return out.getvalue().splitlines()


def test_a_run_has_step_pace_loss_cause_and_the_first_fix_below():
    lines = draw([look_of(causes=(cause_of(),))])
    assert lines[0].startswith("logs  1 run, 1 live")
    cells = " ".join(lines[2].split())
    assert cells == "run1 1,000 145 ms 31.0 % Retracing, 31.0 s since step 800 live"
    assert lines[3] == "run1: Lost 31 % of 1 min 40 s"
    assert lines[4] == "Fix: Pass a tensor."


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
    lines = draw([look_of(stall=stall_of()), look_of("run2", is_live=False)], trouble="gone")
    assert lines[1] == "gone"
    assert lines[3].split()[-1] == "stalled"
    assert lines[4].split()[-1] == "ended"


def test_a_name_can_not_steer_the_terminal():
    text = "\n".join(draw([look_of("\x1b[2J[red]x[/red]")]))
    assert "\\x1b[2J[red]x[/red]" in text
    assert "\x1b" not in text


def test_without_runs_the_screen_says_so():
    assert draw([])[1] == "No runs with slowdown data yet."

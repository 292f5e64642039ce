"""A screen is drawn for the terminal's size and given back; without a terminal there are lines."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from unit.jobs.looks import cause_of, look_of, stall_of

from tb_slowdown_plugin.cli.display.watch_display import LiveScreen, PlainLines
from tb_slowdown_plugin.jobs.notices import Notices

GIVE_BACK = "\x1b[?1049l"


def screen_on(out, width=100):
    console = Console(file=out, force_terminal=True, width=width, height=24, markup=False)
    return LiveScreen("logs", console), console


def test_a_screen_is_given_back_and_its_messages_are_told_after_it(capsys):
    out = io.StringIO()
    screen, _ = screen_on(out)
    with screen:
        screen.show([look_of(causes=(cause_of(),))], (), "")
        screen.warn("--exec: the command ended with status 1")
        screen.redraw()
        assert "Retracing" in out.getvalue()
        assert "status 1" in out.getvalue()
        assert GIVE_BACK not in out.getvalue()
        assert capsys.readouterr().err == ""
    assert GIVE_BACK in out.getvalue()
    assert capsys.readouterr().err.endswith(" --exec: the command ended with status 1\n")


def test_a_screen_is_drawn_again_for_another_size():
    out = io.StringIO()
    screen, console = screen_on(out, width=100)
    with screen:
        screen.show([look_of(causes=(cause_of(),))], (), "")
        assert not re.search(r"Fix\s", out.getvalue())
        console.width = 180
        screen.redraw()
    assert "Lost to" in out.getvalue()
    assert re.search(r"Fix\s", out.getvalue())


def test_plain_lines_tell_what_changes_and_a_live_run_each_minute():
    now = [1.8e9]
    written = []
    lines = PlainLines(written.append, lambda: now[0])
    lines.show([look_of()], (), "")
    lines.show([look_of(step=1010)], (), "")
    assert len(written) == 1
    assert written[0][0].endswith("run1: step 1,000, 145 ms per step, live. Healthy.")
    now[0] += 61.0
    lines.show([look_of(step=1400)], (), "")
    assert "step 1,400" in written[1][0]
    looks = [look_of(causes=(cause_of(),), step=1401)]
    lines.show(looks, Notices().update(looks), "")
    assert "Retracing since step 800" in written[2][0]
    assert "31.0 s of 1 min 40 s lost (31%)" in written[2][1]
    lines.show([look_of(causes=(cause_of(),), step=1401, is_live=False, ended=True)], (), "")
    assert "ended" in written[3][0]


@pytest.mark.parametrize(("account", "state"), [(None, "stalled"), ("checkpoint", "live")])
def test_a_stalled_run_says_so(account, state):
    written = []
    PlainLines(written.append).show([look_of(stall=stall_of(account))], (), "")
    assert f"145 ms per step, {state}." in written[0][0]

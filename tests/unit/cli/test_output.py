from __future__ import annotations

import io

from tb_slowdown_plugin.cli.output import (
    ProgressLine,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_read_of_less_than_a_second_draws_nothing() -> None:
    terminal, clock = Terminal(), Clock()
    with ProgressLine(terminal, clock) as progress:
        clock.now += 0.9
        progress.update(50, 100)
    assert terminal.getvalue() == ""


def test_a_long_read_draws_one_line_now_and_then_and_wipes_it() -> None:
    terminal, clock = Terminal(), Clock()
    with ProgressLine(terminal, clock) as progress:
        clock.now += 1.0
        progress.update(50_000_000, 100_000_000)
        clock.now += 0.1
        progress.update(60_000_000, 100_000_000)
        clock.now += 0.25
        progress.update(70_000_000, 100_000_000)
    first, second = "reading: 50 % of 100 MB", "reading: 70 % of 100 MB"
    assert terminal.getvalue() == f"\r{first}\r{second}\r{' ' * len(second)}\r"


def test_no_terminal_no_line() -> None:
    stream, clock = io.StringIO(), Clock()
    with ProgressLine(stream, clock) as progress:
        clock.now += 60
        progress.update(1, 2)
    assert stream.getvalue() == ""

from __future__ import annotations

import io

import pytest

from tb_slowdown_plugin.cli.output import (
    ProgressLine,
    TurnsBar,
    cannot_write,
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
    first, second = "reading: 50% of 100 MB", "reading: 70% of 100 MB"
    assert terminal.getvalue() == f"\r{first}\r{second}\r{' ' * len(second)}\r"


def test_no_terminal_no_line() -> None:
    stream, clock = io.StringIO(), Clock()
    with ProgressLine(stream, clock) as progress:
        clock.now += 60
        progress.update(1, 2)
    assert stream.getvalue() == ""


def drawn(terminal: Terminal) -> str:
    return terminal.getvalue().split("\r")[-1].rstrip()


def test_a_bar_shows_which_run_is_under_way_and_how_long_the_others_take() -> None:
    terminal, clock = Terminal(), Clock()
    with TurnsBar(terminal, clock) as bar:
        bar.begin("as_it_is")
        clock.now += 8
        bar.tick()
        assert drawn(terminal) == "─" * 20 + " first run, 8 s"
        clock.now += 2
        bar.end()
        bar.expect(4)
        bar.begin("input_free")
        assert drawn(terminal) == "─" * 20 + " run 1 of at most 4: input free, 40.0 s left"
        clock.now += 5
        bar.tick()
        assert (
            drawn(terminal) == "█" * 2 + "─" * 18 + " run 1 of at most 4: input free, 35.0 s left"
        )
        clock.now += 15
        bar.tick()
        assert (
            drawn(terminal) == "█" * 5 + "─" * 15 + " run 1 of at most 4: input free, 30.0 s left"
        )
        bar.end()
        bar.skip_to(3)
        bar.begin("xla")
        assert drawn(terminal) == "█" * 15 + "─" * 5 + " run 4 of at most 4: xla, 15.0 s left"
    assert drawn(terminal) == ""


def test_a_bar_is_for_terminals() -> None:
    stream, clock = io.StringIO(), Clock()
    with TurnsBar(stream, clock) as bar:
        bar.begin("xla")
        clock.now += 60
        bar.tick()
        bar.end()
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied"), "give a file that you may write"),
        (IsADirectoryError(21, "Is a directory"), "give a file in it"),
        (FileNotFoundError(2, "No such file"), "give a file in a directory that exists"),
    ],
)
def test_what_can_not_be_written_is_told_with_a_remedy(error: OSError, said: str) -> None:
    assert str(cannot_write("a.html", error)) == f"can't write 'a.html': {error.strerror}; {said}"

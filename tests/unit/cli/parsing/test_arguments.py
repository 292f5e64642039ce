"""The flags of `tbslow`: what they default to, and what is refused."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.cli.parsing.arguments import build_parser, parse
from tb_slowdown_plugin.errors import InputError


def test_a_report_reads_all_runs_as_text_and_fails_no_job() -> None:
    chosen = parse(["report", "logs"])
    assert (chosen.command, chosen.logdir, chosen.format) == ("report", "logs", "text")
    assert (chosen.run, chosen.output, chosen.fail_over) == (None, None, None)


@pytest.mark.parametrize(("text", "percent"), [("10", 10.0), ("0", 0.0), ("2.5", 2.5)])
def test_a_percentage_is_a_number_up_to_a_hundred(text: str, percent: float) -> None:
    assert parse(["report", "logs", "--fail-over", text]).fail_over == percent


@pytest.mark.parametrize("text", ["101", "-1", "nan", "much"])
def test_another_percentage_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="expected a number from 0 to 100") as told:
        parse(["report", "logs", f"--fail-over={text}"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("given", [["repotr"], ["report", "--colour"], []])
def test_what_does_not_exist_is_refused_with_the_way_to_help(given: list[str]) -> None:
    with pytest.raises(InputError, match="; see 'tbslow"):
        parse(given)


def test_each_command_has_help_with_an_example() -> None:
    (commands,) = (action.choices for action in build_parser()._actions if action.choices)
    assert {"run", "report", "compare", "share", "demo", "trace"} <= set(commands)
    for name, command in commands.items():
        assert f"tbslow {name}" in command.format_help()

"""The flags of `tbslow try`; what follows the program's name is the program's."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.cli.parsing.arguments import parse
from tb_slowdown_plugin.errors import InputError


def test_what_follows_the_program_is_the_programs() -> None:
    chosen = parse(["try", "--steps", "50", "train.py", "--steps", "3", "--all", "-m", "x"])
    assert (chosen.steps, chosen.all, chosen.module) == (50, False, None)
    assert chosen.program == ["train.py", "--steps", "3", "--all", "-m", "x"]


def test_a_module_has_its_arguments() -> None:
    chosen = parse(["try", "--all", "-m", "package.train", "--steps", "3"])
    assert (chosen.all, chosen.module) == (True, ["package.train", "--steps", "3"])


def test_without_flags_the_causes_decide() -> None:
    chosen = parse(["try", "train.py"])
    assert (chosen.steps, chosen.repeats, chosen.format) == (200, 3, "text")
    assert (chosen.only, chosen.all, chosen.logdir, chosen.workdir) == (None, False, None, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "29"], "expected a number, 30 or more"),
        (["--steps", "x"], "expected a number, 30 or more"),
        (["--repeats", "1"], "expected a number, 2 or more"),
        (["--format", "html"], "invalid choice"),
        (["--only", "xla", "--all"], "not allowed with"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(["try", *arguments, "train.py"])

"""Each example of a help text is a call that the parser takes."""

from __future__ import annotations

import itertools
import re
import shlex

import pytest

from tb_slowdown_plugin.cli.parsing import help_texts
from tb_slowdown_plugin.cli.parsing.arguments import build_parser
from tb_slowdown_plugin.cli.run import split

TEXTS = {name: text for name, text in vars(help_texts).items() if name.endswith("EPILOG")}
EXAMPLES = sorted(
    {
        re.split(r"\s{3,}|\s+#", line.strip())[0]
        for text in TEXTS.values()
        for line in text.splitlines()
        if line.startswith("  tbslow ")
    }
)


def test_each_command_has_examples() -> None:
    commands = {example.split()[1] for example in EXAMPLES}
    assert {"run", "report", "compare", "share", "demo", "trace", "fix", "watch", "try"} <= commands


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_parsed(example: str) -> None:
    words = shlex.shlex(example, posix=True, punctuation_chars="|")
    words.whitespace_split = True
    arguments = list(itertools.takewhile(lambda word: word != "|", words))[1:]
    if arguments[0] == "run":  # it reads its flags itself: the rest is the program's
        assert split(arguments[1:])[1]
        return
    assert build_parser().parse_args(arguments).command == arguments[0]

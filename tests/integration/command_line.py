"""What the command says where it refuses: one line on stderr, nothing on stdout, status 2."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.__main__ import main


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line, without the name of the command in front."""
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("tbslow: ").rstrip("\n")

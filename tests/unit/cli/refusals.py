"""What a command says where it refuses."""

from __future__ import annotations

from tb_slowdown_plugin.cli.command import main


def refusal(capsys, *arguments):
    """The line on stderr, without the name of the command in front."""
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("tbslow: ").rstrip("\n")

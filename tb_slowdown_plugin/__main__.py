"""The command `tbslow`, also `python -m tb_slowdown_plugin`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status.

    Args:
      arguments: Without the program's name; None for those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"] and given[1:2] not in (["-h"], ["--help"]):
        return _run(given[1:])
    from tb_slowdown_plugin.cli.command import main as run_command

    return run_command(given)


def _run(arguments: Sequence[str]) -> int:
    """Without argparse, so that the program starts sooner; returns only where it can't."""
    from tb_slowdown_plugin.cli.run import run
    from tb_slowdown_plugin.errors import InputError

    try:
        run(arguments)
    except InputError as error:
        sys.stderr.write(f"tbslow: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())

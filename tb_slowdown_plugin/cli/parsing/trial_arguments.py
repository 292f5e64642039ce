"""The flags of `tbslow try`."""

from __future__ import annotations

import argparse
from typing import Final

TRY_DOES: Final = "run a program with and without a change, and measure how much faster steps get"


def add_try(command: argparse.ArgumentParser) -> None:
    """Adds them."""
    command.add_argument(
        "--steps", type=_at_least(30), default=200, metavar="N", help="steps of each run (200)"
    )
    command.add_argument(
        "--repeats",
        type=_at_least(2),
        default=3,
        metavar="N",
        help="runs with each change, and as many without, at most (3)",
    )
    choice = command.add_mutually_exclusive_group()
    choice.add_argument("--only", metavar="NAMES", help="these experiments: NAME,NAME")
    choice.add_argument("--all", action="store_true", help="all experiments")
    choice.add_argument(
        "--patch", action="store_true", help="the patches of tbslow fix against the run's causes"
    )
    choice.add_argument("--list", action="store_true", help="list the experiments and exit")
    command.add_argument(
        "--logdir",
        metavar="DIR",
        help="where the first run and the results are kept, or a run that is there already "
        "(default: tbslow-runs/PROGRAM-DATE-TIME)",
    )
    command.add_argument(
        "--workdir", metavar="DIR", help="run there, without a copy of the current directory"
    )
    command.add_argument("--step", metavar="RULE", help="what a step is, as in tbslow run")
    command.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people, json for scripts",
    )
    command.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="the program is this module, with arguments of its own",
    )
    command.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.REMAINDER,
        help="SCRIPT.py, or -m MODULE, with arguments of its own",
    )


class _at_least:
    def __init__(self, least: int) -> None:
        self._least = least

    def __call__(self, text: str) -> int:
        number = int(text) if text.isdecimal() else 0
        if number < self._least:
            raise argparse.ArgumentTypeError(f"expected a number, {self._least} or more")
        return number

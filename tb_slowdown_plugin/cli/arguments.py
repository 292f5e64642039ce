"""The flags of `tbslow`, and what it says of wrong ones."""

from __future__ import annotations

import argparse
import math
from typing import Final, NoReturn

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.errors import InputError

FORMATS: Final = ("text", "json")

_DESCRIPTION: Final = (
    "Tells why TensorFlow training got slower, from what it wrote into its logdir."
)
_EPILOG: Final = """\
exit status:
  0  reported
  2  unusable input; one line on stderr says what and what to do
  3  a run lost more than --fail-over PERCENT of its wall time

examples:
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --fail-over 10           for continuous integration
"""


class _Parser(argparse.ArgumentParser):
    """Refuses with an exception, so that all bad input ends in the same one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; '{self.prog} --help' lists what there is")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The arguments of a call.

    Raises:
      InputError: A flag or value that does not exist, or one that is missing.
      SystemExit: After `--help` and `--version`.
    """
    parser = _Parser(
        prog="tbslow",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tbslow {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="say what each run lost, to what, and what to change",
        description="Says what each run lost, to what, and what to change.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    report.add_argument(
        "logdir",
        metavar="LOGDIR",
        help="the directory that training wrote to, or one above several runs; "
        "also an address that TensorBoard can read, such as gs://bucket/logs",
    )
    report.add_argument("--run", metavar="RUN", help="only this run (default: all)")
    report.add_argument(
        "--format", choices=FORMATS, default="text", help="text for people, json for scripts"
    )
    report.add_argument(
        "-o", "--output", metavar="FILE", help="write the report to a file instead of stdout"
    )
    report.add_argument(
        "--fail-over",
        metavar="PERCENT",
        type=_percent,
        help="exit with status 3 if a run lost more than this share of its wall time",
    )
    return parser.parse_args(arguments)


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage; give a number from 0 to 100")
    return value

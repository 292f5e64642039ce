"""The flags of `tbslow`, and what it says of wrong ones."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Final, NoReturn, TypeAlias

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.cli.parsing.fleet_arguments import FLEET_DOES, add_fleet
from tb_slowdown_plugin.cli.parsing.help_texts import (
    COMPARE_EPILOG,
    DEMO_EPILOG,
    DESCRIPTION,
    EPILOG,
    FIX_EPILOG,
    FLEET_EPILOG,
    REPORT_EPILOG,
    RUN_EPILOG,
    SHARE_EPILOG,
    TRACE_EPILOG,
    TRY_EPILOG,
    WATCH_EPILOG,
)
from tb_slowdown_plugin.cli.parsing.trial_arguments import TRY_DOES, add_try
from tb_slowdown_plugin.errors import InputError

FORMATS: Final = ("text", "json", "html")
REPORT_FORMATS: Final = (*FORMATS, "markdown", "junit")


class _Parser(argparse.ArgumentParser):
    """Refuses with an exception, so that all bad input ends in the same one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see '{self.prog} --help'")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The arguments of a call.

    Raises:
      InputError: A flag or value that does not exist, or one that is missing.
      SystemExit: After `--help` and `--version`.
    """
    return build_parser().parse_args(arguments)


def build_parser() -> argparse.ArgumentParser:
    """All commands and their flags; the reference of the documentation is made from it."""
    parser = _Parser(
        prog="tbslow",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tbslow {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_report(commands)
    _add_compare(commands)
    _add_share(commands)
    _add_demo(commands)
    _add_trace(commands)
    _add_fix(commands)
    _add_watch(commands)
    add_try(_add_command(commands, "try", TRY_DOES, TRY_EPILOG))
    add_fleet(_add_command(commands, "fleet", FLEET_DOES, FLEET_EPILOG))
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def _add_command(commands: _Commands, name: str, does: str, epilog: str) -> _Parser:
    return commands.add_parser(
        name,
        help=does,
        description=does[0].upper() + does[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_run(commands: _Commands) -> None:
    """For `--help` and the documentation; `cli/run.py` reads these flags without argparse."""
    run = _add_command(
        commands, "run", "train a program as it is, and show why it is slow", RUN_EPILOG
    )
    run.add_argument(
        "--logdir",
        metavar="DIR",
        help="where the records go (default: tbslow-runs/PROGRAM-DATE-TIME)",
    )
    run.add_argument(
        "--step",
        metavar="RULE",
        help="what a step is: the name of a tf.function, fit, or dataset (a batch of a tf.data "
        "dataset that Python iterates over); default: automatic",
    )
    run.add_argument(
        "--profile-on-slowdown",
        action="store_true",
        help="take short profiler captures when steps are steady and when they get slower",
    )
    run.add_argument("--quiet", action="store_true", help="print no report at the end")
    run.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.REMAINDER,
        help="SCRIPT.py, or -m MODULE, with its own arguments",
    )


def _add_report(commands: _Commands) -> None:
    report = _add_command(
        commands,
        "report",
        "show how much time each run lost, why, and what to change",
        REPORT_EPILOG,
    )
    report.add_argument(
        "logdir",
        metavar="LOGDIR",
        help="the directory that training wrote to, or one above several runs; "
        "also an address that TensorBoard can read, such as gs://bucket/logs",
    )
    report.add_argument("--run", metavar="RUN", help="only this run (default: all)")
    _add_output(report, "report", REPORT_FORMATS, "; markdown for an issue, junit for CI")
    report.add_argument(
        "--fail-over",
        metavar="PERCENT",
        type=_percent,
        help="exit with status 3 if a run lost more than this share of its wall time, without what "
        "other processes took; a run with too few steps for a verdict passes, with a line on "
        "stderr",
    )
    report.add_argument(
        "--fail-over-all",
        metavar="PERCENT",
        type=_percent,
        help="the same, with what other processes took and with all unexplained time",
    )


def _add_compare(commands: _Commands) -> None:
    compare = _add_command(
        commands, "compare", "show significant differences between runs", COMPARE_EPILOG
    )
    compare.add_argument(
        "runs", metavar="RUN", nargs="*", help="the run before the change, and the one after it"
    )
    compare.add_argument(
        "--base", metavar="RUN", nargs="+", default=[], help="repeats before the change"
    )
    compare.add_argument(
        "--with",
        dest="other",
        metavar="RUN",
        nargs="+",
        default=[],
        help="repeats after the change",
    )
    _add_output(compare, "comparison")
    compare.add_argument(
        "--fail-over",
        metavar="PERCENT",
        type=_percent,
        help="exit with status 3 if steps are slower by more than this, and significantly so",
    )


def _add_share(commands: _Commands) -> None:
    share = _add_command(
        commands, "share", "pack what the Slowdown tab needs, and nothing private", SHARE_EPILOG
    )
    share.add_argument("logdir", metavar="LOGDIR", help="the directory that training wrote to")
    share.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the zip file to write"
    )
    share.add_argument(
        "--with-captures",
        action="store_true",
        help="also the profiler's captures, unchecked, but without their host names",
    )
    share.add_argument(
        "--allow",
        metavar="TEXT",
        action="append",
        default=[],
        help="a text that may be included although it looks private; can be repeated",
    )


def _add_demo(commands: _Commands) -> None:
    demo = _add_command(
        commands,
        "demo",
        "train a small program with a mistake in it, and report on it",
        DEMO_EPILOG,
    )
    demo.add_argument(
        "logdir",
        metavar="LOGDIR",
        nargs="?",
        default="tbslow-demo",
        help="a new directory (default: tbslow-demo)",
    )


def _add_trace(commands: _Commands) -> None:
    trace = _add_command(
        commands, "trace", "show where the time goes in a profiler capture", TRACE_EPILOG
    )
    trace.add_argument(
        "capture",
        metavar="FILE_OR_LOGDIR",
        help="an .xplane.pb file, or a directory or an address with captures below it",
    )
    trace.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people, json for scripts",
    )


def _add_fix(commands: _Commands) -> None:
    fix = _add_command(
        commands, "fix", "change the lines that cost the time, as a diff", FIX_EPILOG
    )
    fix.add_argument("logdir", metavar="LOGDIR", help="the directory that training wrote to")
    fix.add_argument("--run", metavar="RUN", help="this run, if there are several")
    fix.add_argument(
        "--cause", metavar="CAUSE", help="only this cause, such as retracing (default: all)"
    )
    fix.add_argument(
        "--apply", action="store_true", help="show the diff, then write the changed files"
    )


def _add_watch(commands: _Commands) -> None:
    watch = _add_command(
        commands, "watch", "show all runs while they train, and send what is found", WATCH_EPILOG
    )
    watch.add_argument(
        "logdir",
        metavar="LOGDIR",
        help="the directory that training writes to, or one above several runs; where it isn't "
        "there yet, the watch waits for it",
    )
    watch.add_argument("--once", action="store_true", help="print all runs and exit")
    watch.add_argument(
        "--exec",
        metavar="COMMAND",
        help="run this shell command for each finding, with the finding as JSON on stdin",
    )
    watch.add_argument(
        "--webhook",
        metavar="URL",
        help="post each finding as JSON whose text Slack shows; URL, env:NAME, or file:PATH",
    )
    watch.add_argument(
        "--prometheus",
        metavar="[HOST:]PORT",
        help="serve metrics for Prometheus there (default HOST: 127.0.0.1)",
    )


def _add_output(
    command: _Parser, what: str, formats: Sequence[str] = FORMATS, more: str = ""
) -> None:
    command.add_argument(
        "--format",
        choices=formats,
        default="text",
        help=f"text for people, json for scripts, html for a page in one file{more}",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", help=f"write the {what} to a file instead of stdout"
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}': expected a number from 0 to 100")
    return value

"""The flags of `tbslow`, and what it says of wrong ones."""

from __future__ import annotations

import argparse
import math
from typing import Final, NoReturn, TypeAlias

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.errors import InputError

FORMATS: Final = ("text", "json", "html")

_DESCRIPTION: Final = (
    "Tells why TensorFlow training got slower, from what it wrote into its logdir."
)
_STATUSES: Final = """\
exit status:
  0  done
  2  unusable input; one line on stderr says what and what to do
  3  slower than --fail-over PERCENT allows
"""
_EPILOG: Final = f"""{_STATUSES}
examples:
  tbslow run train.py                         train as always, and get a verdict
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --fail-over 10           for continuous integration
  tbslow compare logs/old logs/new            did the change make it slower?
  tbslow share logs -o run.zip                for a colleague or a bug report
  tbslow demo                                 a slow run to look at
  tbslow trace logs                           what a profiler capture shows
  tbslow fix logs                             a diff of your own source
  tbslow watch logs                           all runs while they train
"""
_REPORT_EPILOG: Final = f"""{_STATUSES}
examples:
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --format html -o report.html
  tbslow report logs --fail-over 10           for continuous integration:
                                              a run may lose 10 % of its wall time
"""
_COMPARE_EPILOG: Final = f"""{_STATUSES}
A run is a directory with one run in it, or LOGDIR:RUN. All runs of a LOGDIR with several
are repeats.
Two runs of one program differ too: give three of each, and chance is told from change.

examples:
  tbslow compare logs/old logs/new            # if each holds three, three a side
  tbslow compare logs:old logs:new --format json
  tbslow compare logs/old logs/new --format html -o compare.html
  tbslow compare --base a1 a2 a3 --with b1 b2 b3 --fail-over 5
"""
_SHARE_EPILOG: Final = f"""{_STATUSES}
Each record is decoded, searched for absolute paths and for this machine's user and host
names, and written anew; your scalars, images and graphs stay out.

examples:
  tbslow share logs -o run.zip
  tbslow share logs/run1 -o run.zip --with-captures
"""
_DEMO_EPILOG: Final = f"""{_STATUSES}
Trains for some seconds; needs TensorFlow.

examples:
  tbslow demo                                 into the new directory tbslow-demo
  tbslow demo logs/demo
"""
_FIX_EPILOG: Final = f"""{_STATUSES}
Run it where the program is. The diff is on stdout, for `git apply` and `patch -p1`; what each
change does is on stderr. Where no patch is certain to be right, there is an example instead.

examples:
  tbslow fix logs                             see the changes
  tbslow fix logs --cause retracing | git apply
  tbslow fix logs --apply                     write them; FILE.orig is kept where git has no copy
"""
_TRACE_EPILOG: Final = f"""{_STATUSES}
Reads the file of any profiler that writes XPlanes (TensorFlow, JAX, PyTorch/XLA), without
TensorFlow and without XProf. Of a directory the newest capture is shown; JSON has all.

examples:
  tbslow trace logs
  tbslow trace logs/plugins/profile/2026_11_21_06_40_12/vm.xplane.pb
  tbslow trace logs --format json
"""


_WATCH_EPILOG: Final = f"""{_STATUSES}
Follows all runs below LOGDIR, new ones included, until it is interrupted. A finding is sent
once, and once more when it is over or withdrawn. A webhook's address can be a secret: give
env:NAME or file:PATH. TBSLOW_WEBHOOK_TOKEN, or a file that TBSLOW_WEBHOOK_TOKEN_FILE names,
holds a bearer token for it.

examples:
  tbslow watch logs
  tbslow watch logs --once                    one line for each run
  tbslow watch logs --exec 'jq -r .text | mail -s slow me'
  tbslow watch logs --webhook env:SLACK_URL
  tbslow watch logs --prometheus 9464
"""


_RUN_EPILOG: Final = """\
The program runs as by python PROGRAM ARGS, with the same output and exit status. Then the
verdict is on stderr. A program that uses tbslow itself says what a step is; else the batches
of Keras are steps, else the calls that change trainable variables.

examples:
  tbslow run train.py --epochs 3
  tbslow run --logdir logs/run1 -m package.train
  tbslow run --step train_step train.py       a step is a call of the function train_step
  tbslow run --step fit train.py              only the batches of Keras are steps
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
    return build_parser().parse_args(arguments)


def build_parser() -> argparse.ArgumentParser:
    """All commands and their flags; the reference of the documentation is made from it."""
    parser = _Parser(
        prog="tbslow",
        description=_DESCRIPTION,
        epilog=_EPILOG,
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
        commands, "run", "train a program as it is, and say why it is slow", _RUN_EPILOG
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
        "dataset that Python iterates over); default: found out",
    )
    run.add_argument(
        "--profile-on-slowdown",
        action="store_true",
        help="take short profiler captures when steps are steady and when they get slower",
    )
    run.add_argument("--quiet", action="store_true", help="say nothing at the end")
    run.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.REMAINDER,
        help="SCRIPT.py, or -m MODULE, with arguments of its own",
    )


def _add_report(commands: _Commands) -> None:
    report = _add_command(
        commands, "report", "say what each run lost, to what, and what to change", _REPORT_EPILOG
    )
    report.add_argument(
        "logdir",
        metavar="LOGDIR",
        help="the directory that training wrote to, or one above several runs; "
        "also an address that TensorBoard can read, such as gs://bucket/logs",
    )
    report.add_argument("--run", metavar="RUN", help="only this run (default: all)")
    _add_output(report, "report")
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
        commands, "compare", "say what differs between runs by more than chance", _COMPARE_EPILOG
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
        help="exit with status 3 if steps are slower by more than this, and by more than chance",
    )


def _add_share(commands: _Commands) -> None:
    share = _add_command(
        commands, "share", "pack what the Slowdown tab needs, and nothing private", _SHARE_EPILOG
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
        help="a text that may be inside although it looks private; may be repeated",
    )


def _add_demo(commands: _Commands) -> None:
    demo = _add_command(
        commands,
        "demo",
        "train a small program with a mistake in it, and report on it",
        _DEMO_EPILOG,
    )
    demo.add_argument(
        "logdir",
        metavar="LOGDIR",
        nargs="?",
        default="tbslow-demo",
        help="a directory that is not there yet (default: tbslow-demo)",
    )


def _add_trace(commands: _Commands) -> None:
    trace = _add_command(
        commands, "trace", "say where the time goes in a profiler capture", _TRACE_EPILOG
    )
    trace.add_argument(
        "capture",
        metavar="FILE_OR_LOGDIR",
        help="an .xplane.pb file, or a directory with captures below it",
    )
    trace.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people, json for scripts",
    )


def _add_fix(commands: _Commands) -> None:
    fix = _add_command(
        commands, "fix", "change the lines that cost the time, as a diff", _FIX_EPILOG
    )
    fix.add_argument("logdir", metavar="LOGDIR", help="the directory that training wrote to")
    fix.add_argument("--run", metavar="RUN", help="this run, where there are several")
    fix.add_argument(
        "--cause", metavar="CAUSE", help="only this cause, such as retracing (default: all)"
    )
    fix.add_argument(
        "--apply", action="store_true", help="show the diff, then write the changed files"
    )


def _add_watch(commands: _Commands) -> None:
    watch = _add_command(
        commands, "watch", "show all runs while they train, and send what is found", _WATCH_EPILOG
    )
    watch.add_argument(
        "logdir",
        metavar="LOGDIR",
        help="the directory that training writes to, or one above several runs",
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


def _add_output(command: _Parser, what: str) -> None:
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text for people, json for scripts, html for a page in one file",
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
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage; give a number from 0 to 100")
    return value

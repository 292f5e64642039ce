"""What `tbslow run` says when the program has ended: a few lines on the way to the page."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.views.unjudged import describe_unjudged
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.report.ansi import printable
from tb_slowdown_plugin.report.judged_runs import judge_runs
from tb_slowdown_plugin.report.patches.advice import with_patches

_COLUMNS = 100


def print_end(shown: str, logdir: str, *program: str) -> None:
    """Prints the end of a run to stdout, which `tbslow run` connects to stderr.

    Args:
      shown: The logdir as the user would type it.
      logdir: Where it is.
      program: "train.py" and its arguments, or "-m", a module, and its arguments, where known.
    """
    lines = list(_lines(shown, logdir, program))
    sys.stdout.write("".join(f"tbslow: {printable(line)}\n" for line in lines))
    sys.stdout.flush()


def _lines(shown: str, logdir: str, program: Sequence[str]) -> Iterator[str]:
    try:
        judged = [
            (with_patches(account.report, run, Path()), describe_unjudged(run))
            for run, account in judge_runs(logdir, warn=lambda _: None)
        ]
    except InputError as error:
        yield str(error)
        return
    except Exception as error:  # noqa: BLE001 - the program has ended well; ours is one line
        yield f"The report failed ({type(error).__name__}: {error})."
        yield f"To see where: tbslow report {_quoted(shown)}"
        return
    for report, unjudged in judged:
        yield from _of_run(report, unjudged)
    reports = [report for report, _ in judged]
    if any(_has_patch(report) for report in reports):
        yield f"To see the changes of your lines: tbslow fix {_quoted(shown)}"
    if program and [report.verdict for report in reports] == ["healthy"]:
        yield f"To measure what a step could be: tbslow try --all {shlex.join(program)}"
    yield f"To see more: tensorboard --logdir {_quoted(shown)}"


def _of_run(report: Report, unjudged: str | None) -> Iterator[str]:
    yield report.headline
    if unjudged is not None:
        yield unjudged
    largest = max((cause.lost_seconds for cause in report.causes), default=0.0)
    if report.unexplained_seconds > largest:  # then a lesser cause is not the answer
        yield from _unexplained(report)
        return
    # The verdict is about the program: what others took from it comes after its own causes.
    own = [each for each in report.causes if not each.external and each.cause != "warm_up"]
    for cause in (own or report.causes)[:1]:
        lead = ""
        start = next((each for each in report.causes if each.cause == "warm_up"), cause)
        if start.lost_seconds > cause.lost_seconds and not cause.external:
            yield from textwrap.wrap(start.summary, _COLUMNS)  # the headline names it
            lead = "Next: "
        yield from textwrap.wrap(lead + cause.summary, _COLUMNS)
        for advice in cause.advice[:1]:
            place = f" ({advice.where})" if advice.where else ""
            yield from textwrap.wrap(f"Fix{place}: {advice.text}", _COLUMNS)


def _has_patch(report: Report) -> bool:
    return any(advice.kind == "patch" for cause in report.causes for advice in cause.advice)


def _unexplained(report: Report) -> Iterator[str]:
    if report.unexplained is not None:
        yield from textwrap.wrap(report.unexplained.text, _COLUMNS)
    for suspect in report.suspects[:1]:
        yield from textwrap.wrap(f"It may be this: {suspect.why}", _COLUMNS)


def _quoted(shown: str) -> str:
    here = str(Path(shown))
    return shlex.quote(here if "://" not in shown else shown)

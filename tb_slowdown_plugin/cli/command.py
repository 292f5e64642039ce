"""`tbslow`: read a logdir, report, and say by the exit status how it went."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.cli.arguments import parse
from tb_slowdown_plugin.cli.progress import ProgressLine
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.report.ink import printable

UNUSABLE_INPUT: Final = 2
LOST_TOO_MUCH: Final = 3
_LEAST_COLUMNS: Final = 80
_MOST_COLUMNS: Final = 100
_FILE_COLUMNS: Final = 80


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status.

    Args:
      arguments: Without the program's name; None for those of the process.
    """
    try:
        chosen = parse(list(sys.argv[1:] if arguments is None else arguments))
        return _report(chosen)
    except InputError as error:
        _tell(str(error))
        return UNUSABLE_INPUT
    except BrokenPipeError:
        # The reader of the pipe has what it wanted; Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _report(chosen: Namespace) -> int:
    # Here, and not above: `--help` answers without NumPy.
    from tb_slowdown_plugin.analysis.account import account_for
    from tb_slowdown_plugin.reader.logdir import read_runs
    from tb_slowdown_plugin.report.as_json import to_json
    from tb_slowdown_plugin.report.as_text import to_text

    warnings: list[str] = []
    with ProgressLine(sys.stderr) as progress:
        runs = read_runs(
            chosen.logdir, run=chosen.run, warn=warnings.append, progress=progress.update
        )
        reports = [account_for(run).report for run in runs]
    for warning in warnings:
        _tell(warning)
    on_terminal = chosen.output is None and sys.stdout.isatty()
    if chosen.format == "json":
        text = to_json(reports) + "\n"
    else:
        text = to_text(
            reports,
            width=_columns() if on_terminal else _FILE_COLUMNS,
            colour=on_terminal and not os.environ.get("NO_COLOR"),
        )
    _write(text, chosen.output)
    limit = chosen.fail_over
    if limit is not None and any(100 * report.lost_fraction > limit for report in reports):
        return LOST_TOO_MUCH
    return 0


def _tell(sentence: str) -> None:
    sys.stderr.write(f"tbslow: {printable(sentence)}\n")


def _columns() -> int:
    return max(_LEAST_COLUMNS, min(shutil.get_terminal_size().columns, _MOST_COLUMNS))


def _write(text: str, path: str | None) -> None:
    if path is None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal that is not UTF-8
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"can't write '{path}': {error.strerror}; give a file in a directory that exists"
        ) from error

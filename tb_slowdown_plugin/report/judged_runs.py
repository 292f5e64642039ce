"""The runs of a logdir with what was found in each, for commands and for programs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.profiler.sessions import find_sessions
from tb_slowdown_plugin.reader.logdir import Progress, read_runs
from tb_slowdown_plugin.reader.trials import read_trials
from tb_slowdown_plugin.records.run import Run


def judge_runs(
    logdir: str,
    *,
    run: str | None = None,
    warn: Callable[[str], None],
    progress: Progress | None = None,
) -> Iterator[tuple[Run, RunAccount]]:
    """Each run with its account; of one at a time, the arrays need not all be kept.

    Args:
      logdir: As TensorBoard takes it.
      run: Only this one; None for all.
      warn: Told of what could not be read.
      progress: told how many bytes have been read, and of how many.

    Raises:
      InputError: There is nothing to read, or no such run.
    """
    found = read_runs(logdir, run=run, warn=warn, progress=progress, attach=with_what_is_beside)
    for read in found:
        yield read, account_for(read)


def judge(read: Run, logdir: Path | None) -> tuple[Run, RunAccount]:
    """A run with what lies beside its records, and its account.

    Args:
      read: As the reader gave it.
      logdir: Where captures and experiments are looked for; None for a remote one.
    """
    if logdir is None or read.drawn_from is not None:
        return read, account_for(read)
    beside = with_what_is_beside(logdir, read)
    return beside, account_for(beside)


def with_what_is_beside(logdir: Path, run: Run) -> Run:
    """A run with profiler captures and with results of `tbslow try`."""
    beside = replace(run, trials=read_trials(logdir, run.name))
    if not find_sessions(logdir, run.name):
        return beside
    from tb_slowdown_plugin.profiler.digest import captured_in  # most runs have no captures

    return replace(beside, captured=captured_in(logdir, run))


def report(logdir: str | os.PathLike[str], run: str | None = None) -> tuple[Report, ...]:
    """What was found in the runs of a logdir: the same as `tbslow report` prints.

    Needs no TensorFlow. What could not be read is warned of.

    Args:
      logdir: What training wrote to, as TensorBoard takes it: a directory, or an address such as
        "gs://bucket/logs" where fsspec can read it.
      run: Only this run, by the name that TensorBoard shows; None for all.

    Returns:
      a report for each run, by their names. Its fields are the keys of the JSON; `to_dict()`
      makes that of it.

    Raises:
      InputError: There is nothing to read, or no such run.

    Example:
      >>> import tbslow
      >>> (found,) = tbslow.report("demo_logs", run="slow_map_stage")
      >>> found.verdict, found.causes[0].cause, round(found.lost_fraction, 1)
      ('slowdown', 'input_pipeline', 0.8)
    """

    def warn(text: str) -> None:
        warnings.warn(text, stacklevel=3)

    return tuple(account.report for _, account in judge_runs(os.fspath(logdir), run=run, warn=warn))

"""What a person calls a run."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

from tb_slowdown_plugin.records.metadata import ROOT_RUN

_UNKNOWN: Final = "this run"


def run_title(run: str, logdir: str | None) -> str:
    """The name of a run; of the one at the top of a logdir, which has none, the logdir's own.

    Args:
      run: The run's name in its logdir.
      logdir: A directory or an address; None where there is no single one.

    Example:
      >>> run_title("fold/1", "logs"), run_title(".", "gs://bucket/logs/"), run_title(".", None)
      ('fold/1', 'logs', 'this run')
    """
    if run != ROOT_RUN:
        return run
    if not logdir:
        return _UNKNOWN
    if "://" in logdir:
        return PurePosixPath(logdir.partition("://")[2]).name or _UNKNOWN
    path = Path(logdir).expanduser()
    named = path if path.name not in ("", "..") else path.resolve()
    return named.name or _UNKNOWN

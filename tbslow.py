"""The short import: `import tbslow` is `tb_slowdown_plugin`.

`tbslow.summary` and `tbslow.keras` are the same module objects as those of
`tb_slowdown_plugin`, so there is one state, whatever a program imports.
"""

from __future__ import annotations

import os
import sys

from tb_slowdown_plugin import (
    Monitor,
    SlowdownEvent,
    UsageError,
    __version__,
    data,
    keras,
    start,
    stop,
    summary,
)
from tb_slowdown_plugin._paths import PACKAGE

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from typing import Any

    from tb_slowdown_plugin.analysis.report_types.report import Report

__all__ = [
    "Monitor",
    "SlowdownEvent",
    "UsageError",
    "__version__",
    "data",
    "keras",
    "report",
    "start",
    "stop",
    "summary",
]

# Lets `from tbslow.summary import step` and `import tbslow.keras` find them, and `tbslow.auto`.
__path__ = [str(PACKAGE / "writer" / "launch" / "on_import")]
sys.modules[f"{__name__}.summary"] = summary
sys.modules[f"{__name__}.keras"] = keras


def report(logdir: str | os.PathLike[str], run: str | None = None) -> tuple[Report, ...]:
    """What was found in the runs of a logdir, as `tbslow report` prints it.

    Args, returns, and errors: `tb_slowdown_plugin.report.judged_runs.report`.
    """
    from tb_slowdown_plugin.report import judged_runs

    return judged_runs.report(logdir, run)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tbslow` in a notebook: gives it the cell magic `%%slowdown`."""
    from tb_slowdown_plugin.writer.launch.notebook import load

    load(shell)

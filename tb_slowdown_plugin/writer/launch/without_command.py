"""`tbslow run` without its command: by an import, for schedulers and programs that others start."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from tb_slowdown_plugin.writer.launch import end_report, import_watch
from tb_slowdown_plugin.writer.launch.run_script import choose_logdir
from tb_slowdown_plugin.writer.launch.settings import Settings, find_logdir


def begin(environment: Mapping[str, str]) -> None:
    """Watches this process from now on, unless it is watched or is a child of one that is.

    Args:
      environment: `TBSLOW_LOGDIR` is where the records go, `TBSLOW_STEP` what a step is, and
        `TBSLOW_QUIET`, if not empty, leaves out the report at the end.
    """
    if import_watch.is_installed() or _is_worker_process():
        return
    program = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else "program"
    shown = environment.get("TBSLOW_LOGDIR") or choose_logdir([program], time.localtime())
    settings = Settings(
        find_logdir(shown),
        shown,
        environment.get("TBSLOW_STEP", ""),
        quiet=bool(environment.get("TBSLOW_QUIET")),
    )
    import_watch.install(settings)
    end_report.at_exit(settings)


def _is_worker_process() -> bool:
    """Whether `multiprocessing` has started this process, which imports the main module again."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    imports_main = getattr(process.current_process(), "_inheriting", False)
    return imports_main or process.parent_process() is not None

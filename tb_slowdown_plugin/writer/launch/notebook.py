"""`%load_ext tbslow`: the cell magic `%%slowdown`, which trains and shows the report below."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from tb_slowdown_plugin._paths import PACKAGE
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.launch import import_watch, unasked
from tb_slowdown_plugin.writer.launch.run_script import choose_logdir
from tb_slowdown_plugin.writer.launch.settings import Settings, find_logdir

_USAGE = "%%slowdown takes [--logdir DIR] [--step RULE] and nothing else"
_REPORT = f"""\
import sys
sys.path[0] = {str(PACKAGE.parent)!r}
from tb_slowdown_plugin.__main__ import main
sys.exit(main(["report", sys.argv[1]]))
"""


def load(shell: Any) -> None:
    """Gives an IPython shell the magic."""

    def slowdown(line: str, cell: str) -> None:
        """Runs the cell, watches its training, and prints the report."""
        settings = _settings_of(line)
        import_watch.install(settings)
        try:
            shell.run_cell(cell)
        finally:
            own = _finish()
        sys.stdout.write(own or _report(settings))

    shell.register_magic_function(slowdown, "cell")


def _settings_of(line: str) -> Settings:
    settings = Settings()
    words = line.split()
    while words:
        flag = words.pop(0)
        if flag not in ("--logdir", "--step") or not words:
            raise UsageError(_USAGE)
        setattr(settings, flag.removeprefix("--"), words.pop(0))
    settings.shown = settings.logdir or choose_logdir(["notebook"], time.localtime())
    settings.logdir = find_logdir(settings.shown)
    return settings


def _finish() -> str:
    """Ends the watch; returns why there is nothing to report, "" where there is."""
    import_watch.leave()
    begun = unasked.begun()
    if begun is None and monitor.active() is not None:
        return (
            "Nothing recorded by %%slowdown: another monitor is active, such as that of a "
            "SlowdownCallback, and its records have the steps of this cell. Call tbslow.stop() "
            "before the cell.\n"
        )
    if begun is None:
        return "No steps recorded: the cell did not use TensorFlow.\n"
    if not begun.monitor.stopped:
        monitor.stop()
    return f"No steps recorded: {begun.reason}.\n" if begun.reason else ""


def _report(settings: Settings) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _REPORT, settings.logdir],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{done.stdout or done.stderr}\nTo see more: tensorboard --logdir {settings.shown}\n"

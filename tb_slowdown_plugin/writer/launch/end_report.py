"""Has the verdict printed when the program has ended, after everything that it prints itself.

Another process reads the records and judges: the program's own holds nothing for that.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys

from tb_slowdown_plugin.writer.launch.run_script import split_arguments
from tb_slowdown_plugin.writer.launch.settings import Settings

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = os.path.abspath(f"{__file__}/../../../..")  # noqa: PTH100
_PROGRAM = f"""\
import sys
sys.path[0] = {_ROOT!r}
from tb_slowdown_plugin.cli.display.end_report import print_end
print_end(*sys.argv[1:])
"""
_MAX_SECONDS = 60.0
_COLUMNS = 100


def at_exit(settings: Settings) -> None:
    """Has it printed at the end of this process: before the program, so behind all of its own."""
    if not settings.quiet:
        atexit.register(_print, settings, os.getpid())


def _print(settings: Settings, process: int) -> None:
    if os.getpid() != process:
        return  # a fork that has come to its end
    try:
        sys.stdout.flush()
        _report(settings)
    except (OSError, ValueError, AttributeError):
        return  # a stream that the program has closed
    finally:
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            _interrupt_again()


def _interrupt_again() -> None:
    """Python kills itself by SIGINT after an interrupt, unless it has run a text since."""
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return


def _report(settings: Settings) -> None:
    unasked = sys.modules.get("tb_slowdown_plugin.writer.launch.unasked")
    if unasked is None:
        if _is_there(sys.argv[:1]):  # else Python has said it
            _say(f"No steps recorded{_how_it_failed() or f': {_why_never_begun()}'}")
        return
    from tb_slowdown_plugin.writer import monitor

    monitor.stop()
    begun = unasked.begun()
    own = monitor.last_logdir()
    if own is not None:
        _judge(own, own)
    elif begun is None:
        _say("No steps recorded: the monitor couldn't be started.")
    elif begun.reason:
        _say(f"No steps recorded{_how_it_failed() or f': {begun.reason}. {_hint(settings)}'}")
    else:
        _judge(settings.shown, settings.logdir)


def _is_there(script: Sequence[str]) -> bool:
    """Whether Python found what it was to run; of a module it then knows the file."""
    name = script[0] if script else "-"
    if name.startswith("-"):
        return name != "-m"
    if os.path.isdir(name or "."):  # noqa: PTH112
        return os.path.exists(os.path.join(name, "__main__.py"))  # noqa: PTH110, PTH118
    return os.path.exists(name)  # noqa: PTH110


def _how_it_failed() -> str:
    """With which error, as Python remembers the one that nobody caught; "" for none."""
    failed = getattr(sys, "last_type", None)
    return "" if failed is None else f" before the program ended with {failed.__name__}."


def _why_never_begun() -> str:
    if importlib.util.find_spec("tensorflow") is None:
        return 'TensorFlow isn\'t installed here: pip install "tb-slowdown-plugin[tf]"'
    return "the program didn't import TensorFlow."


def _hint(settings: Settings) -> str:
    """Of the rules that were not tried."""
    batches = "--step dataset (each batch of a tf.data dataset that Python iterates over), "
    return (
        "Say what a step is: --step FUNCTION (each call of a tf.function), "
        f"{'' if settings.step == 'dataset' else batches}or with tbslow.summary.step() in the loop."
    )


def _say(text: str) -> None:
    """Written past `sys.stderr`, which the program may have closed or put something in place of."""
    import textwrap

    # Neither a path nor a command is broken.
    wrapped = textwrap.wrap(text, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    lines = "".join(f"tbslow: {line}\n" for line in wrapped)
    os.write(2, lines.encode(errors="backslashreplace"))


def _judge(shown: str, logdir: str) -> None:
    import subprocess

    command = [sys.executable, "-c", _PROGRAM, shown, logdir, *split_arguments(sys.orig_argv)[1]]
    try:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=2, timeout=_MAX_SECONDS, check=False
        )
    except (subprocess.SubprocessError, KeyboardInterrupt):
        return  # the report is lost; `tbslow report` makes another one

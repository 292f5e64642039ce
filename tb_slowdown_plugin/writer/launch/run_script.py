"""Becomes the program: `python SCRIPT.py ARGS`, with the monitor waiting in it.

The process is replaced, not called from here: `__main__`, `sys.path`, signals, tracebacks, and
the exit status are Python's own, and no frame of ours is under the program's.
"""

from __future__ import annotations

import os
import sys
import time

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.writer.launch.settings import Settings

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_DIRECTORY = "tbslow-runs"


def run_script(program: Sequence[str], settings: Settings) -> NoReturn:
    """Replaces this process by the program.

    Args:
      program: As after `python`: "train.py", its arguments; or "-m", a module, its arguments.
      settings: How to watch it; a `logdir` of "" is chosen here.

    Raises:
      InputError: Python was started with flags under which no monitor can start.
    """
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise InputError("Python was started with -E, -I, or -S: tbslow run works without them")
    settings.shown = settings.logdir or choose_logdir(program, time.localtime())
    settings.logdir = (
        settings.shown if "://" in settings.shown else os.path.abspath(settings.shown)  # noqa: PTH100
    )
    command, environment = prepare(program, settings, os.environ)
    os.execve(sys.executable, command, environment)


def prepare(
    program: Sequence[str], settings: Settings, surroundings: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment in which the program is watched.

    Args:
      program: As in `run_script`.
      settings: With an absolute `logdir`.
      surroundings: The environment to begin with.
    """
    environment = dict(surroundings)
    before = environment.get("PYTHONPATH")
    boot = os.path.abspath(f"{__file__}/../boot")  # noqa: PTH100
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (boot, before)))
    if before is not None:
        environment["TBSLOW_RUN_PYTHONPATH"] = before
    environment |= settings.to_environment()
    return [sys.executable, *interpreter_flags(sys.orig_argv, sys.argv), *program], environment


def interpreter_flags(original: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The flags that this Python was started with.

    Args:
      original: `sys.orig_argv`.
      arguments: `sys.argv`.

    Example:
      >>> interpreter_flags(["python", "-O", "-m", "tb_slowdown_plugin", "run"], ["x.py", "run"])
      ['-O']
      >>> interpreter_flags(["python", "-X", "dev", "bin/tbslow", "run"], ["bin/tbslow", "run"])
      ['-X', 'dev']
    """
    before = list(original[1 : len(original) - len(arguments) + 1])
    if before and before[-1] == arguments[0]:
        return before[:-1]
    if len(before) > 1 and before[-2].startswith("-") and before[-2].endswith("m"):
        before[-2:] = [before[-2][:-1]] if len(before[-2]) > 2 else []
    elif before and before[-1].startswith("-m"):
        before.pop()
    return before


def choose_logdir(program: Sequence[str], now: time.struct_time) -> str:
    """A directory that is not there yet, named after the program and the time.

    Example:
      >>> choose_logdir(["src/train.py", "--fast"], time.gmtime(0))
      'tbslow-runs/train-19700101-000000'
      >>> choose_logdir(["-m", "pkg.train"], time.gmtime(0))
      'tbslow-runs/pkg.train-19700101-000000'
    """
    name = program[1] if program[0] == "-m" else os.path.basename(program[0])  # noqa: PTH119
    name = name.removesuffix(".py") or "program"
    wanted = chosen = os.path.join(_DIRECTORY, f"{name}-{time.strftime('%Y%m%d-%H%M%S', now)}")  # noqa: PTH118
    count = 1
    while os.path.exists(chosen):  # noqa: PTH110
        count += 1
        chosen = f"{wanted}-{count}"
    return chosen

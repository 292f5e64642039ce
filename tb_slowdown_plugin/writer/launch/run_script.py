"""Becomes the program: `python SCRIPT.py ARGS`, with the monitor waiting in it.

The process is replaced, not called from here: `__main__`, `sys.path`, signals, tracebacks, and
the exit status are Python's own, and no frame of ours is under the program's.
"""

from __future__ import annotations

import os
import sys
import time

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.writer.launch.settings import Settings, find_logdir

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_DIRECTORY = "tbslow-runs"

_WITH_VALUE = ("--check-hash-based-pycs",)
"""Of Python's long flags (3.10 to 3.13), those whose value is the next word."""


def run_script(program: Sequence[str], settings: Settings) -> NoReturn:
    """Replaces this process by the program.

    Args:
      program: As after `python`: "train.py", its arguments; or "-m", a module, its arguments.
      settings: How to watch it; a `logdir` of "" is chosen here.

    Raises:
      InputError: Python was started with flags under which no monitor can start, or nothing can be
        written to the logdir.
    """
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise InputError("Python was started with -E, -I, or -S: tbslow run works without them")
    settings.shown = settings.logdir or choose_logdir(program, time.localtime())
    settings.logdir = find_logdir(settings.shown)
    if "://" not in settings.logdir:
        check_logdir(settings)
    command, environment = prepare(program, settings, os.environ)
    os.execve(sys.executable, command, environment)


def check_logdir(settings: Settings) -> None:
    """Says before the program begins what its records would meet.

    Nothing stays: a program that trains nothing leaves no directory.

    Args:
      settings: With a local `logdir`. Where it has records, a line to stderr says that these will
        be of the same run, unless `quiet`.

    Raises:
      InputError: It is a file, or can't be made or written.
    """
    there = settings.logdir
    while not os.path.lexists(there):
        there = os.path.dirname(there)  # noqa: PTH120
    if not os.path.isdir(there):  # noqa: PTH112
        raise InputError(
            f"no records can be written to {settings.shown}: {there} is no directory; "
            "give another --logdir"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(
            f"no records can be written to {settings.shown}: you may not write to {there}; "
            "give another --logdir"
        )
    _try_to_make(settings, there)
    if not settings.quiet and there == settings.logdir and _has_records(there):
        sys.stderr.write(
            f"tbslow: {settings.shown} has records already: this run goes on with them, as after "
            "a restart. To keep it apart, give another --logdir.\n"
        )


def _try_to_make(settings: Settings, there: str) -> None:
    """Makes what is missing below a directory, apart, and removes it: only that says it's possible.

    In a directory of this process: others may start at the same time with the same parents.
    """
    if there == settings.logdir:
        return
    missing = os.path.relpath(settings.logdir, there).split(os.sep)  # noqa: PTH206
    path, made = there, []
    try:
        for name in (f".tbslow-{os.getpid()}", *missing):
            path = os.path.join(path, name)  # noqa: PTH118
            os.mkdir(path)  # noqa: PTH102
            made.append(path)
    except OSError as error:
        raise InputError(
            f"no records can be written to {settings.shown}: {error.strerror}; "
            "give another --logdir"
        ) from error
    finally:
        _remove(made)


def _remove(directories: Sequence[str]) -> None:
    try:
        for each in reversed(directories):
            os.rmdir(each)  # noqa: PTH106
    except OSError:
        return  # the disk has failed meanwhile


def _has_records(logdir: str) -> bool:
    from tb_slowdown_plugin.records.metadata import DIRECTORY  # with `pathlib`: seldom needed

    try:
        files = os.listdir(os.path.join(logdir, DIRECTORY))  # noqa: PTH118, PTH208
    except OSError:
        return False
    return any(file.startswith("events.out.tfevents.") for file in files)


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
    return [sys.executable, *split_arguments(sys.orig_argv)[0], *program], environment


def split_arguments(original: Sequence[str]) -> tuple[list[str], list[str]]:
    """The flags that Python was started with, and the program with its arguments.

    Args:
      original: `sys.orig_argv`.

    Returns:
      The program is [] where it is no file and no module.

    Example:
      >>> split_arguments(["python", "-Om", "package.train", "--fast"])
      (['-O'], ['-m', 'package.train', '--fast'])
      >>> split_arguments(["python", "-X", "dev", "train.py", "-c"])
      (['-X', 'dev'], ['train.py', '-c'])
      >>> split_arguments(["python", "-c", "pass"]), split_arguments(["python", "-"])
      (([], []), ([], []))
    """
    flags: list[str] = []
    rest = list(original[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        each = rest.pop(0)
        if each.startswith("--"):
            flags += [each, *rest[:1]] if each in _WITH_VALUE else [each]
            del rest[: each in _WITH_VALUE]
            continue
        at = next((i for i, letter in enumerate(each) if letter in "cmWX"), len(each))
        if each[at : at + 1] in ("c", "m"):
            flags += [each[:at]] * (at > 1)
            module = [each[at + 1 :]] if each[at + 1 :] else []
            return flags, ["-m", *module, *rest] if each[at] == "m" else []
        flags.append(each)
        if at == len(each) - 1:  # `-W` or `-X`, and what it sets
            flags += rest[:1]
            del rest[:1]
    return flags, rest if rest[:1] != ["-"] else []


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

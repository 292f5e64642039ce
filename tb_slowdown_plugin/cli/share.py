"""`tbslow share`."""

from __future__ import annotations

import contextlib
import getpass
import socket
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from tb_slowdown_plugin.analysis.text.wording import counted, size
from tb_slowdown_plugin.cli.output import (
    ProgressLine,
    cannot_write,
    tell,
    write,
)
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.report.ansi import printable
from tb_slowdown_plugin.report.share.archive import Packed, pack


def share(chosen: Namespace) -> int:
    """Packs what the Slowdown tab needs of a logdir; returns the exit status."""
    logdir = _local(chosen.logdir)
    total = sum(path.stat().st_size for path in logdir.rglob("*tfevents*") if path.is_file())
    done = 0
    warnings: list[str] = []
    with ProgressLine(sys.stderr) as progress:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            progress.update(min(done, total), total)

        try:
            packed = pack(
                logdir,
                Path(chosen.output),
                names=names_of_this_machine(),
                allowed=chosen.allow,
                captures=chosen.with_captures,
                warn=warnings.append,
                advance=advance,
            )
        except OSError as error:
            raise cannot_write(chosen.output, error) from error
    for warning in warnings:
        tell(warning)
    write("\n".join(_lines(chosen.output, packed, chosen.with_captures)) + "\n", None)
    return 0


def names_of_this_machine() -> dict[str, str]:
    """The user's and the host's names -> what they are."""
    host = socket.gethostname()
    names = {host: "host name", host.partition(".")[0]: "host name"}
    with contextlib.suppress(KeyError, OSError, ImportError):  # a container's nameless user
        names[getpass.getuser()] = "user name"
    names[Path.home().name] = "user name"
    return names


def _local(given: str) -> Path:
    if "://" in given:
        raise InputError(f"'{given}' is not on this machine; copy it here first, then share it")
    logdir = Path(given).expanduser()
    if not logdir.exists():
        raise InputError(f"no such directory: '{given}'; give the logdir that training wrote to")
    if not logdir.is_dir():
        raise InputError(f"'{given}' is a file; give its directory")
    return logdir


def _lines(output: str, packed: Sequence[Packed], captures: bool) -> Iterator[str]:
    yield f"{printable(output)} holds:"
    for file in packed:
        what = "profiler capture"
        if not file.capture:
            what = f"{counted(file.records, 'record')}, {counted(file.steps, 'step')}"
        yield f"  {printable(file.path)}  {size(file.bytes)}  {what}"
    unreadable = sum(file.unreadable for file in packed)
    if unreadable:
        yield f"Left out: {counted(unreadable, 'record')} that can't be read."
    yield (
        "In the records: times and counts of steps, sampled signals, names of functions, their "
        "places (file and line), shapes and types of arguments, versions, devices."
    )
    yield (
        "Not in them: your scalars, images and graphs; absolute paths, and this machine's user "
        "and host names were looked for and not found."
    )
    found = sum(file.capture for file in packed)
    if captures and found:
        yield f"Not checked: {counted(found, 'file')} of profiler captures, but for host names."
    elif captures:
        yield "This logdir has no profiler captures."
    yield "To look at it: unpack it, then tensorboard --logdir DIRECTORY"

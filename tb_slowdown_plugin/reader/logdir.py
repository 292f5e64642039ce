"""A whole logdir, local or remote, read to its end: what the command works on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.assembly import assemble
from tb_slowdown_plugin.reader.event_files import EventFile, find_event_files, read_records
from tb_slowdown_plugin.reader.provider import ProviderRecords, open_logdir
from tb_slowdown_plugin.reader.record import Record
from tb_slowdown_plugin.records.metadata import DIRECTORY, run_name
from tb_slowdown_plugin.records.types import Run

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all); never called for a remote logdir."""

_SHOWN_RUNS: Final = 3


@dataclass(frozen=True, slots=True)
class Logdir:
    """What was read."""

    runs: tuple[Run, ...]
    """By name; each with slowdown data, though perhaps not one step yet."""
    notes: tuple[str, ...]
    """What is wrong with files of which no run came, in sentences."""


def read_logdir(logdir: str, *, run: str | None = None, progress: Progress | None = None) -> Logdir:
    """Read all runs of a logdir, or one of them.

    Args:
      logdir: A directory, or an address such as "gs://bucket/logs" that TensorBoard reads.
      run: The run's name as the user knows it; None for all.
      progress: Told how far a local read has come.

    Raises:
      InputError: There is nothing to report on; the text gives the value and the remedy.
    """
    if "://" in logdir:
        return _read_remote(logdir, run)
    return _read_local(logdir, run, progress)


def _read_local(logdir: str, run: str | None, progress: Progress | None) -> Logdir:
    root = Path(logdir).expanduser()
    if not root.exists():
        raise InputError(f"no such directory: '{logdir}'; give the logdir that training wrote to")
    if not root.is_dir():
        raise InputError(f"'{logdir}' is a file; give the directory that it lies in")
    files = find_event_files(root)
    if not files:
        raise InputError(f"'{logdir}' holds no event files; give the logdir that training wrote to")
    wanted = [file for file in files if run is None or run_name(file.tensorboard_run)[0] == run]
    if run is not None and not wanted:
        raise _unknown_run(logdir, run, (run_name(file.tensorboard_run)[0] for file in files))
    by_run: dict[str, list[EventFile]] = {}
    for file in wanted:
        by_run.setdefault(run_name(file.tensorboard_run)[0], []).append(file)
    advance = _counter(wanted, progress)
    runs: list[Run] = []
    notes: list[str] = []
    for name, of_run in sorted(by_run.items()):
        read, damage = _read_run(name, of_run, advance)
        if read is None:
            notes.extend(damage)
        else:
            runs.append(read)
    return _checked(logdir, run, runs, notes)


def _read_run(
    name: str, files: list[EventFile], advance: Callable[[int], None]
) -> tuple[Run | None, list[str]]:
    damage: list[str] = []

    def records() -> Iterator[Record]:
        damage.clear()
        for file in files:
            ours = DIRECTORY in file.tensorboard_run.split("/")
            warnings: list[str] = []
            for record in read_records(file, warnings.append, advance):
                ours = True
                yield record
            if ours:  # the user's own files are not our business
                damage.extend(warnings)

    run = assemble(name, records)
    if run is None:
        return None, damage
    return replace(run, notes=(*run.notes, *damage)), []


def _counter(files: list[EventFile], progress: Progress | None) -> Callable[[int], None]:
    total = sum(file.size for file in files)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(min(done, total), total)

    return advance


def _read_remote(logdir: str, run: str | None) -> Logdir:
    try:
        source = ProviderRecords(open_logdir(logdir))
        tags = source.tags()
        names = {run_name(found)[0] for found in tags}
        if run is not None:
            tags = {found: of for found, of in tags.items() if run_name(found)[0] == run}
            if not tags:
                raise _unknown_run(logdir, run, names)
        runs = [
            assemble(name, partial(source.read, of_run))
            for name, of_run in sorted(_by_run(tags).items())
        ]
    except InputError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise InputError(
            f"can't read '{logdir}': {error or type(error).__name__}; "
            "check the address and that this machine may read it"
        ) from error
    return _checked(logdir, run, [found for found in runs if found is not None], [])


def _by_run(tags: Mapping[str, Collection[str]]) -> dict[str, dict[str, Collection[str]]]:
    by_run: dict[str, dict[str, Collection[str]]] = {}
    for tensorboard_run, of_run in tags.items():
        by_run.setdefault(run_name(tensorboard_run)[0], {})[tensorboard_run] = of_run
    return by_run


def _checked(logdir: str, run: str | None, runs: list[Run], notes: list[str]) -> Logdir:
    if runs:
        return Logdir(tuple(runs), tuple(notes))
    place = f"'{logdir}'" if run is None else f"run '{run}' of '{logdir}'"
    if notes:
        raise InputError(f"{place} has no readable slowdown data: {notes[0]}")
    raise InputError(
        f"{place} has no slowdown data; train with tbslow.start(...) or "
        "tbslow.keras.SlowdownCallback(...) writing there"
    )


def _unknown_run(logdir: str, run: str, names: Iterable[str]) -> InputError:
    known = sorted(set(names))
    near = difflib.get_close_matches(run, known, n=_SHOWN_RUNS, cutoff=0.0)
    more = f" and {len(known) - len(near)} more" if len(known) > len(near) else ""
    listed = ", ".join(f"'{name}'" for name in near)
    return InputError(f"'{logdir}' has no run '{run}'; it has {listed}{more}")

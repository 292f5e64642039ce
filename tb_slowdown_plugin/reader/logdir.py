"""A whole logdir, local or remote, read to its end: what the command works on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import assemble
from tb_slowdown_plugin.reader.event_files import (
    Damaged,
    EventFile,
    find_event_files,
    read_records,
)
from tb_slowdown_plugin.reader.provider import ProviderRecords, open_logdir
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.types import Run

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all); never called for a remote logdir."""

_SHOWN_RUNS: Final = 3


def read_runs(
    logdir: str,
    *,
    run: str | None = None,
    warn: Callable[[str], None],
    progress: Progress | None = None,
) -> Iterator[Run]:
    """Read all runs of a logdir, or one of them; one at a time, so that memory need not hold all.

    Args:
      logdir: A directory, or an address such as "gs://bucket/logs" that TensorBoard reads.
      run: The run's name as the user knows it; None for all.
      warn: Gets a sentence for each event file or folder that can't be read and of which
        no run came; other damage is in the run's own notes.
      progress: Told how far a local read has come.

    Yields:
      Each run with slowdown data, by name; perhaps without a step yet.

    Raises:
      InputError: There is nothing to report on; the text gives the value and the remedy.
    """
    runs = (
        _read_remote(logdir, run) if "://" in logdir else _read_local(logdir, run, warn, progress)
    )
    found = False
    for found_run in runs:
        found = True
        yield found_run
    if not found:
        place = f"'{logdir}'" if run is None else f"run '{run}' of '{logdir}'"
        raise InputError(
            f"{place} has no slowdown data; train with tbslow.start(...) or "
            "tbslow.keras.SlowdownCallback(...) writing there"
        )


def _read_local(
    logdir: str, run: str | None, warn: Callable[[str], None], progress: Progress | None
) -> Iterator[Run]:
    root = Path(logdir).expanduser()
    if not root.exists():
        raise InputError(f"no such directory: '{logdir}'; give the logdir that training wrote to")
    if not root.is_dir():
        raise InputError(f"'{logdir}' is a file; give the directory that it lies in")
    damages: list[Damaged] = []
    files = find_event_files(root, damages.append)
    if not files and not damages:
        raise InputError(f"'{logdir}' holds no event files; give the logdir that training wrote to")
    by_run: dict[str, list[EventFile]] = {}
    for file in files:
        by_run.setdefault(run_name(file.tensorboard_run)[0], []).append(file)
    if run is not None and files:
        if run not in by_run:
            raise _unknown_run(logdir, run, by_run)
        by_run = {run: by_run[run]}
    advance = _counter([file for of_run in by_run.values() for file in of_run], progress)
    whole = False
    for name, of_run in sorted(by_run.items()):
        read, damaged = _read_run(name, of_run, advance)
        damages.extend(damaged)
        if read is not None:
            whole = True
            yield read
    if damages and not whole:
        raise InputError(f"'{logdir}' has no readable slowdown data: {damages[0].sentence}")
    for damage in damages:
        if damage.ours:
            warn(damage.sentence)


def _read_run(
    name: str, files: list[EventFile], advance: Callable[[int], None]
) -> tuple[Run | None, list[Damaged]]:
    damages: list[Damaged] = []

    def records() -> Iterator[Record]:
        damages.clear()
        for file in files:
            yield from read_records(file, damages.append, advance)

    run = assemble(name, records)
    if run is None:
        return None, damages
    # A damaged file of the user's own is not our business.
    notes = tuple(damage.sentence for damage in damages if damage.ours)
    return replace(run, notes=run.notes + notes), []


def _counter(files: list[EventFile], progress: Progress | None) -> Callable[[int], None]:
    total = sum(file.size for file in files)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(min(done, total), total)

    return advance


def _read_remote(logdir: str, run: str | None) -> Iterator[Run]:
    try:
        source = ProviderRecords(open_logdir(logdir))
        tags = source.tags()
        names = {run_name(found)[0] for found in tags}
        if run is not None:
            tags = {found: of for found, of in tags.items() if run_name(found)[0] == run}
            if not tags:
                raise _unknown_run(logdir, run, names)
        for name, of_run in sorted(_by_run(tags).items()):
            found_run = assemble(name, partial(source.read, of_run))
            if found_run is not None:
                yield found_run
    except InputError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise InputError(
            f"can't read '{logdir}': {error or type(error).__name__}; "
            "check the address and your access. TensorBoard opens s3:// with tensorflow-io beside "
            "TensorFlow, or with fsspec and s3fs where TensorFlow is not installed; or copy the "
            "folder with the event files here"
        ) from error


def _by_run(tags: Mapping[str, Collection[str]]) -> dict[str, dict[str, Collection[str]]]:
    by_run: dict[str, dict[str, Collection[str]]] = {}
    for tensorboard_run, of_run in tags.items():
        by_run.setdefault(run_name(tensorboard_run)[0], {})[tensorboard_run] = of_run
    return by_run


def _unknown_run(logdir: str, run: str, names: Iterable[str]) -> InputError:
    known = sorted(set(names))
    near = difflib.get_close_matches(run, known, n=_SHOWN_RUNS, cutoff=0.0)
    more = f" and {len(known) - len(near)} more" if len(known) > len(near) else ""
    listed = ", ".join(f"'{name}'" for name in near)
    return InputError(f"'{logdir}' has no run '{run}'; it has {listed}{more}")

"""A whole logdir, local or remote, read to its end: what the command works on."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tb_slowdown_plugin.errors import InputError, tell_no_data
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import BOUNDS, Bounds, assemble
from tb_slowdown_plugin.reader.event_files import (
    Damaged,
    EventFile,
    find_event_files,
    read_records,
)
from tb_slowdown_plugin.reader.provider import ProviderRecords, open_logdir
from tb_slowdown_plugin.reader.scalars.scalar_catalogue import ScalarCatalogue
from tb_slowdown_plugin.reader.scalars.scalar_points import ScalarPoints
from tb_slowdown_plugin.reader.scalars.scalar_run import run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import group_writers
from tb_slowdown_plugin.reader.worker_run import run_of_worker
from tb_slowdown_plugin.records.metadata import DIRECTORY, run_name
from tb_slowdown_plugin.records.run import Run

if TYPE_CHECKING:  # local logdirs need it not, and its import takes a twentieth of a short report
    from tb_slowdown_plugin.reader.stored_runs import StoredRun

Progress = Callable[[int, int], None]
"""(bytes read, bytes in all); never called for a remote logdir."""

Attach = Callable[[Path, Run], Run]
"""Adds to a run what is beside its records in a local logdir, or in a copy of a remote one."""

_SHOWN_RUNS: Final = 3


def read_runs(
    logdir: str,
    *,
    run: str | None = None,
    warn: Callable[[str], None],
    progress: Progress | None = None,
    attach: Attach | None = None,
) -> Iterator[Run]:
    """Read all runs of a logdir, or one of them; one at a time, so that memory need not hold all.

    Args:
      logdir: A directory, or an address such as "gs://bucket/logs" that fsspec or TensorBoard
        reads.
      run: The run's name as the user knows it, or that of one of its workers
        (`run1/slowdown/worker-1`); None for all.
      warn: Gets a sentence for each event file or folder that can't be read and of which
        no run came; other damage is in the run's own notes.
      progress: Told how far a local read has come.
      attach: Called with each run of records while its files are on a local disk.

    Yields:
      Each run with slowdown data, by name; perhaps without a step yet.

    Raises:
      InputError: There is nothing to report on; the text gives the value and the remedy.
    """
    add = attach or (lambda _, run: run)
    name, worker = (None, 0) if run is None else run_name(run)
    runs = (
        _read_remote(logdir, name, warn, add)
        if "://" in logdir
        else _read_local(logdir, name, warn, progress, add)
    )
    found = False
    for read in runs:
        found_run = run_of_worker(read, worker) if worker else read
        if found_run is not None:
            found = True
            yield found_run
    if not found:
        place = f"'{logdir}'" if run is None else f"run '{run}' of '{logdir}'"
        raise InputError(tell_no_data(place))


def read_stored(
    stored: StoredRun, damages: list[Damaged], *, attach: Attach, bounds: Bounds = BOUNDS
) -> Iterator[Run]:
    """Reads one run of a listing; from a copy where the logdir is remote.

    Args:
      stored: From `list_runs`.
      damages: Gets what can't be read and of which no run came.
      attach: See `read_runs`.
      bounds: How much of a run is kept step by step.

    Yields:
      The run; nothing where the files hold none, several where writers have records each.
    """
    from tb_slowdown_plugin.reader.stored_runs import at_hand

    try:
        with at_hand(stored) as (root, files):
            by_run = _by_name(files)
            groups = dict.fromkeys(by_run, stored.name)
            for run in _read_groups(by_run, groups, _counter([], None), damages, bounds):
                yield run if run.drawn_from else attach(root, run)
    except OSError as error:  # the storage's
        damages.append(Damaged(f"run {stored.name} can't be read: {error}", True))


def _read_local(
    logdir: str,
    run: str | None,
    warn: Callable[[str], None],
    progress: Progress | None,
    attach: Attach,
) -> Iterator[Run]:
    root = Path(logdir).expanduser()
    if not root.exists():
        raise InputError(f"no such directory: '{logdir}'; give the logdir that training wrote to")
    if not root.is_dir():
        raise InputError(f"'{logdir}' is a file; give its directory")
    damages: list[Damaged] = []
    files = find_event_files(root, damages.append)
    if not files and not damages:
        raise InputError(f"'{logdir}' has no event files; give the logdir that training wrote to")
    by_run = _by_name(files)
    groups = group_writers(by_run)
    if run is not None and files:
        groups = _chosen(logdir, run, groups)
    advance = _counter([file for name in groups for file in by_run[name]], progress)
    whole = False
    for read in _read_groups(by_run, groups, advance, damages):
        whole = True
        yield read if read.drawn_from else attach(root, read)
    _tell_damage(logdir, damages, whole=whole, warn=warn)


def _by_name(files: Iterable[EventFile]) -> dict[str, list[EventFile]]:
    by_run: dict[str, list[EventFile]] = {}
    for file in files:
        by_run.setdefault(run_name(file.tensorboard_run)[0], []).append(file)
    return by_run


def _read_groups(
    by_run: Mapping[str, list[EventFile]],
    groups: Mapping[str, str],
    advance: Callable[[int], None],
    damages: list[Damaged],
    bounds: Bounds = BOUNDS,
) -> Iterator[Run]:
    points: dict[str, ScalarPoints | None] = {}
    left = Counter(groups.values())
    for name, group in sorted(groups.items()):
        scalars = points.setdefault(group, ScalarPoints())
        read, damaged = _read_run(name, by_run[name], advance, scalars, bounds)
        damages.extend(damaged)
        if read is not None:
            points[group] = None  # the scalars of a run with records are its program's own
        left[group] -= 1
        if not left[group]:
            scalars = points.pop(group)
            read = read or (run_from_scalars(group, scalars.series()) if scalars else None)
        if read is not None:
            yield read


def _tell_damage(
    logdir: str, damages: list[Damaged], *, whole: bool, warn: Callable[[str], None]
) -> None:
    if damages and not whole:
        raise InputError(f"'{logdir}' has no readable slowdown data: {damages[0].sentence}")
    for damage in damages:
        if damage.ours:
            warn(damage.sentence)


def _read_run(
    name: str,
    files: list[EventFile],
    advance: Callable[[int], None],
    scalars: ScalarPoints | None,
    bounds: Bounds,
) -> tuple[Run | None, list[Damaged]]:
    """A run of records. Until the first is found, `scalars` gets the points of the program's."""
    damages: list[Damaged] = []
    # Ours first: where there are records, nobody needs to parse the user's own events.
    files = sorted(files, key=lambda file: DIRECTORY not in file.tensorboard_run.split("/"))
    found = False

    def pass_on(tensorboard_run: str, raw: bytes) -> None:
        if scalars is not None and not found:
            scalars.add(tensorboard_run, raw)

    def records() -> Iterator[Record]:
        nonlocal found
        damages.clear()
        for file in files:
            for record in read_records(file, damages.append, advance, pass_on):
                found = True
                yield record

    run = assemble(name, records, bounds=bounds)
    if run is None:
        return None, damages
    # A damaged file of the user's own is not our business.
    notes = tuple(damage.sentence for damage in damages if damage.ours)
    return replace(run, notes=run.notes + notes), []


def _chosen(logdir: str, run: str, groups: Mapping[str, str]) -> dict[str, str]:
    """The writers of the run that is asked for, by either of its names."""
    of_group = {name: group for name, group in groups.items() if group == run}
    if of_group or run in groups:
        return of_group or {run: run}
    raise _unknown_run(logdir, run, {*groups, *groups.values()})


def _counter(files: list[EventFile], progress: Progress | None) -> Callable[[int], None]:
    total = sum(file.size for file in files)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(min(done, total), total)

    return advance


def _read_remote(
    logdir: str, run: str | None, warn: Callable[[str], None], attach: Attach
) -> Iterator[Run]:
    from tb_slowdown_plugin.reader.stored_runs import list_runs

    try:
        listed = list_runs(logdir, warn)
    except (ImportError, ValueError):  # fsspec can't open it
        yield from _read_through_tensorboard(logdir, run)
        return
    if run is not None and listed:
        chosen = [each for stored in listed if (each := stored.only(run))]
        if not chosen:
            raise _unknown_run(logdir, run, {*chain(*(each.writers for each in listed))})
        listed = chosen
    damages: list[Damaged] = []
    whole = False
    for stored in listed:
        for read in read_stored(stored, damages, attach=attach):
            whole = True
            yield read
    _tell_damage(logdir, damages, whole=whole, warn=warn)


def _read_through_tensorboard(logdir: str, run: str | None) -> Iterator[Run]:
    try:
        provider = open_logdir(logdir)
        source = ProviderRecords(provider)
        by_run = _by_run(source.tags())
        scalars = ScalarCatalogue(provider)
        names = {*by_run, *scalars.listing(source.all_runs(), by_run)}
        if run is not None and run not in names:
            raise _unknown_run(logdir, run, names)
        for name in sorted(names) if run is None else [run]:
            if name in by_run:
                found_run = assemble(name, partial(source.read, by_run[name]))
            else:
                found_run = scalars.run(name)
            is_result = found_run and found_run.drawn_from and not len(found_run.steps)
            if found_run is not None and not is_result:
                yield found_run
    except InputError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise InputError(
            f"can't read '{logdir}': {error or type(error).__name__}; "
            "check the address and your access. s3:// needs s3fs, gs:// needs gcsfs (pip install "
            "s3fs); or copy the folder with the event files here"
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

"""A zip of what the Slowdown tab needs of a logdir, and nothing else."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.errors import DecodeError, InputError, tell_no_data
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.reader.event_files import (
    Damaged,
    EventFile,
    find_event_files,
    read_records,
)
from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.types import Chunk
from tb_slowdown_plugin.report.share.anonymize import (
    framed_chunk,
    framed_start,
    last_time,
    planes_of,
)
from tb_slowdown_plugin.report.share.privacy_scan import find_private, texts_of

_CAPTURES: Final = ("plugins", "profile")
"""The profiler writes RUN/plugins/profile/SESSION/HOST.xplane.pb."""
_CAPTURE: Final = ".xplane.pb"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""What the zip says of each file's age: nothing."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One file of the archive."""

    path: str
    run: str
    records: int
    steps: int
    bytes: int
    unreadable: int = 0
    """Records that were left out, because what can't be read can't be checked."""
    capture: bool = False


def pack(
    logdir: Path,
    target: Path,
    *,
    names: Mapping[str, str],
    allowed: Collection[str] = (),
    captures: bool = False,
    warn: Callable[[str], None],
    advance: Callable[[int], None] = lambda _: None,
) -> list[Packed]:
    """Writes the archive, whole or not at all.

    Every record is decoded, checked and encoded anew; the user's own events stay out.

    Args:
      logdir: A local directory.
      target: The zip to write.
      names: User and host names that must not be in it; see `find_private`.
      allowed: Texts that may be in it all the same.
      captures: Also the profiler's captures, unchecked but for the names of their hosts.
      warn: Told of files that can't be read to their end.
      advance: Gets the bytes read since its last call.

    Returns:
      What is in it.

    Raises:
      InputError: There is nothing to share, or something private in it.
      OSError: The archive can't be written.
    """
    damages: list[Damaged] = []
    by_folder: dict[str, list[EventFile]] = {}
    for file in find_event_files(logdir, damages.append):
        by_folder.setdefault(file.tensorboard_run, []).append(file)
    part = target.with_name(target.name + ".part")
    packed: list[Packed] = []
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder, files in by_folder.items():
                chunks = _Chunks(files, damages.append, advance)
                written = _write_folder(archive, folder, chunks, names, allowed)
                if written is not None:
                    packed.append(replace(written, unreadable=chunks.unreadable))
            if not packed:
                raise InputError(_nothing(logdir, damages))
            if captures:
                packed += _write_captures(archive, logdir)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    for damage in damages:
        if damage.ours:
            warn(damage.sentence)
    return packed


class _Chunks:
    """The chunks in some event files, and how many records of them can't be read."""

    def __init__(
        self,
        files: list[EventFile],
        report: Callable[[Damaged], None],
        advance: Callable[[int], None],
    ) -> None:
        self._files, self._report, self._advance = files, report, advance
        self.unreadable = 0

    def __iter__(self) -> Iterator[Chunk]:
        for file in self._files:
            for record in read_records(file, self._report, self._advance):
                chunk = _decoded(record.payload)
                if chunk is None:
                    self.unreadable += 1
                else:
                    yield chunk


def _decoded(payload: bytes) -> Chunk | None:
    try:
        return decode(payload)
    except DecodeError:
        return None


def _write_folder(
    archive: zipfile.ZipFile,
    folder: str,
    chunks: _Chunks,
    names: Mapping[str, str],
    allowed: Collection[str],
) -> Packed | None:
    checked: set[str] = set()
    ours = iter(chunks)
    first = next(ours, None)
    if first is None:
        return None
    _refuse_private([folder], folder, names, allowed)
    began = last_time(first)
    path = (Path(folder) / f"events.out.tfevents.{int(began):010d}.shared").as_posix()
    records = steps = 0
    with archive.open(_entry(path), "w", force_zip64=True) as entry:
        size = entry.write(framed_start(began))
        for chunk in chain([first], ours):
            texts = texts_of(chunk) - checked
            _refuse_private(texts, folder, names, allowed)
            checked |= texts
            size += entry.write(framed_chunk(chunk))
            records, steps = records + 1, steps + len(chunk.steps)
    return Packed(path, run_name(folder)[0], records, steps, size)


def _refuse_private(
    texts: Collection[str], folder: str, names: Mapping[str, str], allowed: Collection[str]
) -> None:
    private = find_private(texts, names, allowed)
    if private is not None:
        raise InputError(
            f"'{private.found}', which looks like a {private.what}, is in '{private.inside}' of "
            f"run '{run_name(folder)[0]}'; nothing was written. If it may be shared: "
            f"--allow '{private.found}'".replace("a absolute", "an absolute")
        )


def _write_captures(archive: zipfile.ZipFile, logdir: Path) -> Iterator[Packed]:
    for folder, subfolders, files in os.walk(logdir):
        subfolders.sort()
        here = Path(folder).relative_to(logdir)
        if here.parts[-3:-1] != _CAPTURES:
            continue
        run = here.parents[2].as_posix()
        # What XProf keeps beside a capture names the host, too, and is made anew where it lacks.
        hosts = sorted(name for name in files if name.endswith(_CAPTURE))
        for number, name in enumerate(hosts, 1):
            source = logdir / here / name
            if source.is_symlink() or not source.is_file():
                continue
            path = (here / f"host-{number}{_CAPTURE}").as_posix()
            if not _is_whole(source):
                continue
            with archive.open(_entry(path), "w") as entry:
                size = sum(entry.write(block) for block in planes_of(source))
            yield Packed(path, run, 0, 0, size, capture=True)


def _is_whole(capture: Path) -> bool:
    """An entry of a zip can't be taken back once its beginning is written."""
    try:
        return sum(map(len, planes_of(capture))) > 0
    except UnreadableError:
        return False


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _nothing(logdir: Path, damages: list[Damaged]) -> str:
    if damages:
        return f"'{logdir}' has no readable slowdown data: {damages[0].sentence}"
    return tell_no_data(f"'{logdir}'")

"""What a finder of patches is given: a cause, its run, and the files at hand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause, Place
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.source_lines import FILE_HASH, HASH, SOURCE_LINE
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError

ChangesResults = Literal["no", "numerics", "yes"]
_MAX_DIRECTORIES: Final = 5_000
"""That are searched for a file whose name in the record has no directory."""
_MAX_BYTES: Final = 2**21
"""Of a file: a record of somebody else's may name any."""
_OTHERS: Final = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of one file that is certain to be valid, with what it does to results."""

    cause: str
    title: str
    """What it does, as a sentence."""
    source: Source
    line: int
    edits: tuple[Edit, ...]
    changes_results: ChangesResults = "no"
    note: str = ""
    """What else to know, as a sentence."""
    instead_of: tuple[Advice, ...] = ()
    """The examples of the cause that it makes needless; empty for the first one."""
    is_of_subject: bool = True
    """Whether it changes what the cause is named after, and not a lesser part: it comes first."""


@dataclass
class Sources:
    """The files below a directory, and the hashes of the lines that a run recorded.

    Args:
      root: The directory that patches are for.
      hashes: "train.py:41" -> hash of that line when it ran.
      files: "train.py" -> hash of that file when it ran.
      exact: Whether to take only files in that directory itself that are in whole what ran.
    """

    root: Path
    hashes: Mapping[str, float]
    files: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False
    _read: dict[Path, Source] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, root: Path, *, exact: bool = False) -> Sources:
        """Of a run and its workers."""
        lines = [fact for _, fact in run.facts(SOURCE_LINE)]
        return cls(
            root,
            {each.subject: each.numbers[HASH] for each in lines if HASH in each.numbers},
            {
                each.subject.rpartition(":")[0]: each.numbers[FILE_HASH]
                for each in lines
                if FILE_HASH in each.numbers
            },
            exact,
        )

    def whole(self, place: Place) -> Source:
        """The file of a place, which is the one that ran from its first line to its last.

        Raises:
          UncertainError: There is no such file, or it is another one now.
        """
        source = self.at(place)
        if not source.is_file(self.files.get(place.file, -1.0)):
            raise UncertainError(
                f"{place.file} has changed since the run, and the change would touch several of "
                "its lines; record the program again."
            )
        return source

    def at(self, place: Place) -> Source:
        """The file of a place, whose line is the one that ran.

        Raises:
          UncertainError: There is no such file, or its line is another one now.
        """
        told = f"{place.file}:{place.line}"
        hashed = self.hashes.get(told)
        if hashed is None:
            raise UncertainError(
                f"The run has no hash of {told}: it is in a library, in a notebook, or was "
                "recorded by an older version. Change the line by hand."
            )
        found = [source for path in self._candidates(place.file) if (source := self._load(path))]
        for source in found:
            is_whole = not self.exact or source.is_file(self.files.get(place.file, -1.0))
            if is_whole and source.has_line(place.line, hashed):
                return source
        if found:
            raise UncertainError(
                f"{told} has changed since the run; check out the version that ran, or record "
                "the program again."
            )
        raise UncertainError(
            f"There is no {place.file} below this directory; run the command where the program is."
        )

    def _candidates(self, file: str) -> Iterator[Path]:
        relative = Path(file)
        if relative.is_absolute() or ".." in relative.parts:
            return
        if (self.root / relative).is_file():
            yield self.root / relative
        for directory, folders, _ in () if self.exact else _directories(self.root):
            folders[:] = [each for each in folders if each[0] != "." and each not in _OTHERS]
            path = Path(directory) / relative
            if Path(directory) != self.root and path.is_file():
                yield path

    def _load(self, path: Path) -> Source | None:
        if path not in self._read:
            try:
                if path.stat().st_size > _MAX_BYTES:
                    return None
                content = path.read_bytes()
            except OSError:
                return None
            self._read[path] = Source(path, path.relative_to(self.root).as_posix(), content)
        return self._read[path]


def _directories(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for number, found in enumerate(os.walk(root)):
        if number >= _MAX_DIRECTORIES:
            return
        yield found


@dataclass(frozen=True)
class Evidence:
    """A cause of a run, and where its program may be."""

    cause: Cause
    run: Run
    sources: Sources

    def subjects(self, name: str) -> list[str]:
        """The different subjects of the facts of a name, in their order."""
        return list(dict.fromkeys(fact.subject for _, fact in self.run.facts(name)))

    def patch(
        self,
        title: str,
        source: Source,
        line: int,
        edits: list[Edit],
        *,
        changes_results: ChangesResults = "no",
        note: str = "",
        instead_of: tuple[Advice, ...] = (),
    ) -> Patch:
        """A patch against this cause.

        Raises:
          UncertainError: The result would be no Python.
        """
        source.edited(edits)
        return Patch(
            self.cause.cause, title, source, line, tuple(edits), changes_results, note, instead_of
        )

"""A copy of a program's directory for each run, so that nothing of the user's is overwritten.

Files are copied, never linked: a program may write to any of them. Folders that hold installed
packages or version control are linked, and what it writes there is its own doing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.errors import InputError

MAX_BYTES: Final = 2 * 1024**3
"""A directory above this isn't copied. Chosen by hand: some seconds of copying."""
_LEFT_OUT: Final = frozenset(("__pycache__", "tbslow-runs"))
SCRATCH: Final = "tbslow-try-"
"""Begins the name of directories with copies, of which no copy is made."""
_LINKED: Final = frozenset((".git", ".hg", ".svn", "node_modules", "site-packages"))


class ProgramCopy:
    """The directories that a program works in: the current one, and the one of its script.

    Args:
      program: "train.py" and its arguments, or "-m", a module, and its arguments.
      current: The directory in which it would run.

    Raises:
      InputError: The script isn't there, or its directory is too large to copy.
    """

    def __init__(self, program: Sequence[str], current: Path) -> None:
        self._program = list(program)
        self.roots = [current.resolve()]
        """What is copied."""
        if program[0] != "-m":
            script = (current / program[0]).resolve()
            if not script.is_file():
                raise InputError(f"no such file: '{program[0]}'; give the program to run")
            if not script.is_relative_to(self.roots[0]):
                self.roots.append(script.parent)
            self._program[0] = str(script)
        for root in self.roots:
            size = sum(os.lstat(file).st_size for file in _files(root))
            if size > MAX_BYTES:
                raise InputError(
                    f"'{root}' has {size / 1024**3:.1f} GiB, too much to copy for each run; "
                    "give a directory to run in with --workdir DIR"
                )

    def make(
        self, folder: Path, changed: Mapping[Path, bytes] | None = None
    ) -> tuple[list[str], Path, dict[str, str]]:
        """Copies the directories.

        Args:
          folder: A new one.
          changed: Files that have another content in the copy.

        Returns:
          The program with paths into the copy, the directory to run in, and which directory
          was copied where.
        """
        copies = {}
        for number, root in enumerate(self.roots):
            copy = folder / f"{number}-{root.name}"
            shutil.copytree(root, copy, symlinks=True, ignore=_ignore)
            for linked in _linked(root):
                (copy / linked.relative_to(root)).symlink_to(linked)
            _move_links(copy, root)
            copies[str(root)] = str(copy)
        for file, content in (changed or {}).items():
            place = Path(move_path(str(file.resolve()), copies))
            if not place.resolve().is_relative_to(folder.resolve()):
                raise InputError(f"'{file}' is not in the copy: its patch can't be tried")
            place.write_bytes(content)
        program = [move_path(each, copies) for each in self._program]
        return program, Path(copies[str(self.roots[0])]), copies


def move_path(text: str, copies: Mapping[str, str]) -> str:
    """An argument, or a list of paths, with each path into a directory moved to its copy.

    Example:
      >>> move_path("--out=/home/me/p/logs", {"/home/me/p": "/tmp/p"})
      '--out=/tmp/p/logs'
      >>> move_path("/home/me/pictures", {"/home/me/p": "/tmp/p"})
      '/home/me/pictures'
    """
    prefix, equals, value = text.partition("=")
    if equals and prefix.startswith("-"):
        return prefix + equals + move_path(value, copies)
    parts = text.split(os.pathsep) if "://" not in text else [text]
    return os.pathsep.join(_move_one(part, copies) for part in parts)


def _move_one(path: str, copies: Mapping[str, str]) -> str:
    for root, copy in copies.items():
        if path == root or path.startswith(root + os.sep):
            return copy + path[len(root) :]
    return path


def _move_links(copy: Path, root: Path) -> None:
    """A link to an absolute path below the directory leads into the copy."""
    for file in _entries(copy):
        if file.is_symlink() and file.readlink().is_absolute():
            target = file.readlink()
            if target.is_relative_to(root) and not _is_linked(target):
                file.unlink()
                file.symlink_to(copy / target.relative_to(root))


def _ignore(folder: str, names: list[str]) -> list[str]:
    """What isn't copied: caches, what is linked, and what can't be (sockets, pipes)."""
    return [name for name in names if not _is_copied(Path(folder) / name)]


def _is_copied(path: Path) -> bool:
    if path.is_symlink():
        return True
    if path.is_dir():
        is_left_out = path.name in _LEFT_OUT or path.name.startswith(SCRATCH)
        return not is_left_out and not _is_linked(path)
    return path.is_file()


def _is_linked(path: Path) -> bool:
    return path.name in _LINKED or (path / "pyvenv.cfg").is_file()


def _linked(root: Path) -> Iterator[Path]:
    for folder, folders, _ in os.walk(root):
        paths = [Path(folder) / name for name in folders]
        yield from (path for path in paths if not path.is_symlink() and _is_linked(path))
        folders[:] = [path.name for path in paths if _is_copied(path)]


def _entries(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder) / name for name in (*folders, *files))


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if _is_copied(Path(folder) / name)]
        yield from (Path(folder) / name for name in files)

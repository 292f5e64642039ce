"""Writes patched files, so that nothing of the reader's is lost."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.whole_files import replace_file
from tb_slowdown_plugin.report.patches.code.source import Source


def write_patched(source: Source, text: str) -> Path | None:
    """Writes a file's new text; returns the backup where git does not have the file as it was.

    Raises:
      InputError: The file has changed meanwhile, or can't be written.
    """
    path = source.path.resolve()
    try:
        if path.read_bytes() != source.content:
            raise InputError(f"{source.name} changed since; run the command again")
        backup = None if _is_committed(path) else _back_up(path)
        replace_file(path, text.encode(source.encoding))
    except OSError as error:
        raise InputError(f"can't write '{source.name}': {error.strerror}") from error
    return backup


def _is_committed(path: Path) -> bool:
    """Whether git has the file as it is."""
    git = shutil.which("git")
    if git is None:
        return False
    for question in (["ls-files", "--error-unmatch"], ["diff", "--quiet", "HEAD"]):
        asked = subprocess.run(
            [git, *question, "--", path.name], cwd=path.parent, capture_output=True, check=False
        )
        if asked.returncode:
            return False
    return True


def _back_up(path: Path) -> Path:
    number = 0
    backup = path.with_name(f"{path.name}.orig")
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.orig{number}")
    shutil.copy2(path, backup)
    return backup

"""Files that are written as a whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_MODE: Final = 0o644
"""Of a file that is new: others may read it."""


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file in one step: a reader sees the old content or the new, with the old mode.

    Raises:
      OSError: A full disk, or a read-only directory: the old file is as it was.
    """
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    new = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        if path.exists():
            shutil.copymode(path, new)
        else:
            new.chmod(_MODE)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise

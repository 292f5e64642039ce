"""Lines of the program in a record: their places and hashes, never their text.

`tbslow fix` tells by the hash whether a line at hand is the one that ran.
"""

from __future__ import annotations

import hashlib
from typing import Final

SOURCE_LINE: Final = "source_line"
"""Fact: a line that the record names. Subject: "train.py:41"; "hash" of the line, and "file": that
of the whole file."""

HASH: Final = "hash"
FILE_HASH: Final = "file"
_HASH_BYTES: Final = 6
"""48 bits: a number of a fact holds 53 of them exactly."""


def hash_line(line: str) -> float:
    r"""A hash of a line without the white space around it, as a number of a fact.

    Example:
      >>> hash_line("    gc.collect()\r\n") == hash_line("gc.collect()")
      True
      >>> hash_line("gc.collect()") == hash_line("gc.collect(1)")
      False
    """
    return _hash(line.strip())


def hash_file(text: str) -> float:
    r"""A hash of a file's text, whatever ends its lines.

    Example:
      >>> hash_file("\ufeffa = 1\r\nb = 2") == hash_file("a = 1\nb = 2\n")
      True
    """
    return _hash("\n".join(text.removeprefix("\ufeff").splitlines()))


def _hash(text: str) -> float:
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=_HASH_BYTES)
    return float(int.from_bytes(digest.digest(), "big"))

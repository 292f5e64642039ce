"""What must not leave a machine: looked for in every text of a record before it is shared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Final

from tb_slowdown_plugin.records.types import Chunk

_PATH: Final = re.compile(
    r"(?<![\w.:/\\)\]])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:'\",;<>]+[/\\])+[^\s/\\:'\",;<>]+"
)
"""Two names at least: "samples /s" is none. TensorFlow's devices ("/job:a/task:0") have colons."""
_SHORTEST: Final = 3
_EVERYBODYS: Final = frozenset(
    ("root", "user", "users", "admin", "ubuntu", "localhost", "runner", "jovyan", "nobody", "home")
)
"""Names that say nothing about anybody."""


@dataclass(frozen=True, slots=True)
class Private:
    """A text that may be private, and what it seems to be."""

    what: str
    """"user name", "host name" or "absolute path"."""
    found: str
    inside: str
    """The whole text that holds it."""


def find_private(
    texts: Collection[str], names: Mapping[str, str], allowed: Collection[str] = ()
) -> Private | None:
    """The first text that holds something private, None if all are harmless.

    Args:
      texts: What is to be shared.
      names: user and host names of this machine -> "user name" or "host name". Those
        shorter than three letters, and everybody's, such as root, are not looked for.
      allowed: What may be inside all the same.
    """
    looked_for = {
        name: what
        for name, what in names.items()
        if len(name) >= _SHORTEST and name.lower() not in _EVERYBODYS and name not in allowed
    }
    pattern = re.compile(
        "|".join(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])" for name in looked_for),
        re.IGNORECASE,
    )
    by_folded = {name.lower(): what for name, what in looked_for.items()}
    for text in texts:
        if looked_for and (name := pattern.search(text)):
            return Private(by_folded[name.group().lower()], name.group(), text)
        for path in _PATH.finditer(text):
            if path.group() not in allowed:
                return Private("absolute path", path.group(), text)
    return None


def texts_of(chunk: Chunk) -> set[str]:
    """Every text in a chunk: names, reasons, places, values of arguments."""
    return set(_texts(chunk))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))

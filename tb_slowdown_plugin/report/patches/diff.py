"""A unified diff that `git apply` and `patch -p1` take, byte for byte."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from tb_slowdown_plugin.report.patches.code.source import Source


def unified_diff(source: Source, text: str) -> bytes:
    """The diff of a file to a new text, in the file's encoding; empty where nothing changes."""
    name = source.name.replace("\\", "/")
    end = "\t" if " " in name else ""
    lines = list(
        difflib.unified_diff(
            _lines(source.text), _lines(text), f"a/{name}{end}", f"b/{name}{end}", lineterm=""
        )
    )
    if not lines:
        return b""
    header = "".join(f"{line}\n" for line in lines[:2]).encode()
    return header + "".join(_ended(lines[2:])).encode(source.encoding)


def _lines(text: str) -> list[str]:
    """As git has them: only a line feed ends a line."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("@@"):
            yield f"{line}\n"
        elif line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"

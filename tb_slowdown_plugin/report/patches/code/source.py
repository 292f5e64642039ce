"""A Python file with its syntax tree, and edits of exact spans of its text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.records.source_lines import hash_file, hash_line

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = "\ufeff"


class UncertainError(Exception):
    """There is no patch that is certain to be right; the text says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of a text, in characters, and what replaces it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Source:
    """A Python file as it is now.

    Args:
      path: Where it is.
      name: Relative to the directory that patches are for.
      content: Its bytes.
    """

    path: Path
    name: str
    content: bytes
    encoding: str = field(init=False)
    text: str = field(init=False)
    """With its own line ends."""
    tree: ast.Module = field(init=False)

    def __post_init__(self) -> None:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(self.content).readline)
            encoding = "utf-8" if encoding == "utf-8-sig" else encoding
            text = self.content.decode(encoding)
            tree = ast.parse(text.removeprefix(_BYTE_ORDER_MARK))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UncertainError(f"{self.name} can't be parsed: {error}.") from error
        for name, value in (("encoding", encoding), ("text", text), ("tree", tree)):
            object.__setattr__(self, name, value)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset of each line, as Python counts them, and that of the end."""
        begins = len(self.text) - len(self.text.removeprefix(_BYTE_ORDER_MARK))
        ends = [found.end() for found in _LINE_END.finditer(self.text)]
        last = [] if ends and ends[-1] == len(self.text) else [len(self.text)]
        return (begins, *ends, *last)

    @property
    def newline(self) -> str:
        """The end of its lines."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Node -> the node around it."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def line(self, number: int) -> str:
        """A line with its end, counted from 1; "" behind the last one."""
        starts = self.line_starts
        return self.text[starts[number - 1] : starts[number]] if 0 < number < len(starts) else ""

    def has_line(self, number: int, hashed: float) -> bool:
        """Whether a line is the one with this hash."""
        line = self.line(number)
        return bool(line.strip()) and hash_line(line) == hashed

    def is_file(self, hashed: float) -> bool:
        """Whether the whole text is the one with this hash."""
        return hash_file(self.text) == hashed

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The characters of an expression or a statement.

        Raises:
          UncertainError: It lies in an f-string, of whose parts Python before 3.12 tells other
            places.
        """
        around: ast.AST | None = node
        while around is not None:
            if isinstance(around, ast.JoinedStr):
                raise UncertainError(
                    "The code is inside an f-string, where it can't be changed safely. Move it to"
                    " a separate line."
                )
            around = self.parents.get(around)
        start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def rows(self, node: ast.stmt) -> tuple[int, int]:
        """The whole lines of a statement, decorators included, as offsets.

        Raises:
          UncertainError: Something else is on one of its lines.
        """
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        last = node.end_lineno or node.lineno
        starts = self.line_starts
        start, end = starts[first - 1], starts[last]
        _, code_end = self.span(node)
        rest = self.text[code_end:end].strip()
        begins = self.text[start : self._offset(first, node.col_offset)].strip()
        if begins or (rest and not rest.startswith("#")):
            raise UncertainError(
                f"Line {last} of {self.name} has more than one statement, and a patch changes "
                "whole lines. Put each on a separate line."
            )
        return start, end

    def edited(self, edits: Iterable[Edit]) -> str:
        """The text with edits that don't overlap.

        Raises:
          UncertainError: The result is no Python.
        """
        text = self.text
        for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        try:
            ast.parse(text.removeprefix(_BYTE_ORDER_MARK))
        except (SyntaxError, ValueError) as error:
            raise UncertainError(f"{self.name} could not be parsed afterwards: {error}.") from error
        return text

    def _offset(self, line: int, column_bytes: int) -> int:
        start = self.line_starts[line - 1]
        before = self.line(line).encode("utf-8")[:column_bytes]
        return start + len(before.decode("utf-8"))

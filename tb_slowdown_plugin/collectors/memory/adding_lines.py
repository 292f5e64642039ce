"""The line of a program that adds to what has a name, by its compiled code: no source is read.

`history.append(loss)`, `bank = tf.concat([bank, key], 0)` in a loop, `self.pairs += [pair]`.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Final, Literal, NamedTuple

Scope = Literal["local", "global", "attribute"]
"""Where the name is: a function's variables, a module's, or an object's attributes."""

_ADDERS: Final = frozenset(
    {"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"}
)
_OPERATIONS: Final[dict[Scope, tuple[str, ...]]] = {
    "local": ("FAST", "DEREF"),
    "global": ("NAME", "GLOBAL"),
    "attribute": ("ATTR",),
}
_ENDS: Final = ("STORE", "POP_TOP", "POP_JUMP", "RETURN")
"""How the last instruction of a statement, or of a condition, begins."""
_NEAR: Final = 3
"""Instructions from the container to the end of `container[key] = value`."""


class _AddingLine(NamedTuple):
    code: CodeType
    number: int
    adds: bool
    """To a container; else the name gets another value."""
    of_itself: bool
    """Of the one before, in the same statement."""
    in_loop: bool


def find_adding_line(
    codes: Iterable[CodeType], name: str, scope: Scope
) -> tuple[CodeType, int] | None:
    """The code and the line number that make what has this name larger; None where none may.

    A line that adds to a container comes before one that only gives the name another value. Of
    these, one that makes it of the old value, one in a loop, or the last of several: the first one
    makes it.

    Args:
      codes: Where to look, nested functions included.
      name: The variable or the attribute.
      scope: Whose name it is.
    """
    codes = tuple(codes)
    files = tuple(code.co_filename for code in codes)  # by which codes are equal all the same
    return _find(codes, files, name, scope)


@functools.lru_cache(maxsize=64)
def _find(
    codes: tuple[CodeType, ...], _: tuple[str, ...], name: str, scope: Scope
) -> tuple[CodeType, int] | None:
    lines = [line for code in codes for line in _lines_of(code, name, scope)]
    again = [line for line in lines if line.adds or line.in_loop] or lines[1:]
    best = max(again, key=lambda line: (line.adds, line.of_itself, line.in_loop), default=None)
    return (best.code, best.number) if best else None


def _lines_of(code: CodeType, name: str, scope: Scope) -> Iterator[_AddingLine]:
    instructions = list(dis.get_instructions(code))
    loops = [
        (each.argval, each.offset)
        for each in instructions
        if "JUMP" in each.opname and isinstance(each.argval, int) and each.argval < each.offset
    ]
    number = code.co_firstlineno
    loaded = -_NEAR
    is_loaded = False
    for place, each in enumerate(instructions):
        number = _line_of(each) or number
        in_loop = any(begin <= each.offset <= end for begin, end in loops)
        if _is(each, "STORE", name, scope):
            yield _AddingLine(code, number, False, is_loaded, in_loop)
        elif place - loaded <= _NEAR and _adds(each, place == loaded + 1):
            yield _AddingLine(code, number, True, True, in_loop)
        if each.opname.startswith(_ENDS):
            is_loaded = False
        if _is(each, "LOAD", name, scope):
            loaded, is_loaded = place, True
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_of(constant, name, scope)


def _adds(instruction: dis.Instruction, is_next: bool) -> bool:
    return instruction.opname == "STORE_SUBSCR" or (is_next and instruction.argval in _ADDERS)


def _is(instruction: dis.Instruction, action: str, name: str, scope: Scope) -> bool:
    # Python 3.13 does two in one: `STORE_FAST_LOAD_FAST`, and either twice, with both names.
    operation, names = instruction.opname, instruction.argval
    is_ours = any(each in operation for each in _OPERATIONS[scope])
    if not is_ours or not operation.startswith((action, "STORE_FAST_LOAD")):
        return False
    if isinstance(names, tuple) and operation.count(action) > 1:
        return name in names
    if isinstance(names, tuple):
        names = names[0 if action == "STORE" else -1]
    return bool(names == name)


def _line_of(instruction: dis.Instruction) -> int | None:
    positions = getattr(instruction, "positions", None)  # from Python 3.11 on
    if positions is not None:
        line: int | None = positions.lineno
        return line
    return instruction.starts_line

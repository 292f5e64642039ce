"""The lines of the program that AutoGraph has rewritten to those that run in a traced function."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Final

from tb_slowdown_plugin.collectors.hooks.source_location import code_of

_CONVERTS: Final = "converted_call"
"""The function of AutoGraph (2.16 and 2.21: autograph/impl/api.py) that calls what it has written
for its argument `f`, its local `converted_f`, which has the lines as `ag_source_map`."""


_DEEPEST: Final = 20


def line_before(frame: FrameType) -> tuple[CodeType | None, int]:
    """The code that AutoGraph has rewritten to that of a frame, and the line in it.

    None where it doesn't tell the code; the first line where it doesn't tell the line.
    """
    # Between them are comprehensions, and the branches and loops that AutoGraph calls.
    caller = frame.f_back
    for _ in range(_DEEPEST):
        if caller is None or caller.f_code.co_name == _CONVERTS:
            break
        caller = caller.f_back
    if caller is None or caller.f_code.co_name != _CONVERTS:
        return None, 0
    known = caller.f_locals
    code = code_of(known.get("f"))
    if code is None:
        return None, 0
    lines = getattr(known.get("converted_f"), "ag_source_map", None) or {}
    for written, origin in lines.items():
        if (written.filename, written.lineno) == (frame.f_code.co_filename, frame.f_lineno):
            return code, origin.loc.lineno
    return code, code.co_firstlineno

"""The reader's own lines in what the page is answered, and the way to them in an editor.

Only the page gets them: reports that are saved or shared hold no source text and no directory.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tb_slowdown_plugin.analysis.report_types.causes import Cause, Place
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import Body, report_body
from tb_slowdown_plugin.report.patches.code.source import UncertainError
from tb_slowdown_plugin.report.patches.evidence import Sources

_VARIABLE: Final = "TBSLOW_EDITOR"
_DEFAULT: Final = "vscode://file{path}:{line}"
_OFF: Final = "off"
_AROUND: Final = 2
"""Lines of context, as many as around a patch."""


def is_for(address: str | None) -> bool:
    """Whether a browser gets the lines: one on this machine, or any where an editor is configured.

    The file is on this machine, and its directory is nobody else's business.
    """
    if os.environ.get(_VARIABLE):
        return True
    try:
        return ip_address(address or "").is_loopback
    except ValueError:
        return False


def page_body(report: Report, run: Run, root: Path) -> Body:
    """The body of a report with `source` in each cause, and `open` where code is of a file.

    `source` is the lines around the cause's place, `null` where a patch shows them already, or
    where the file in `root` isn't the one that ran.

    Args:
      report: With its patches.
      run: The recording.
      root: The directory in which the program's files are.
    """
    body = report_body([report])
    sources = Sources.of(run, root, exact=True)
    for cause, told in zip(report.causes, body["runs"][0]["causes"], strict=True):
        has_patch = False
        for advice in told["advice"]:
            if advice["kind"] == "patch":
                has_patch = True
                file, _, line = advice["where"].rpartition(":")
                advice["open"] = _address(root / file, int(line))
        told["source"] = None if has_patch else _lines_of(cause, sources)
    return body


def _lines_of(cause: Cause, sources: Sources) -> dict[str, Any] | None:
    place: Place | None = cause.place
    if place is None:
        return None
    try:
        source = sources.at(place)
    except UncertainError:
        return None
    first = max(1, place.line - _AROUND)
    lines = source.text.splitlines()[first - 1 : place.line + _AROUND]
    return {
        "where": f"{source.name}:{place.line}",
        "code": "\n".join(f"  {line}".rstrip() for line in lines),
        "lines": [first],
        "open": _address(sources.root / source.name, place.line),
    }


def _address(path: Path, line: int) -> str:
    """What opens a line in the reader's editor; "" where that is switched off."""
    template = os.environ.get(_VARIABLE) or _DEFAULT
    if template == _OFF:
        return ""
    return template.replace("{path}", quote(path.resolve().as_posix())).replace("{line}", str(line))

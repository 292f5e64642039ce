"""The notebook as a page of the documentation."""

from __future__ import annotations

import json
from pathlib import Path


def write_notebook(notebook: Path) -> str:
    """Its cells as Markdown, and a link to the file itself, which lies beside the page."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else _fenced(text))
    parts.append(f"[The notebook as a file]({notebook.name}). A test runs it from top to bottom.")
    return "\n\n".join(parts) + "\n"


def _fenced(code: str) -> str:
    """Lines that go to a shell are no Python."""
    if all(line.startswith("!") for line in code.splitlines()):
        commands = "\n".join(line[1:] for line in code.splitlines())
        return f"```console\n{commands}\n```"
    return f"```python\n{code}\n```"

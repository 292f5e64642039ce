"""Adds the pages to the documentation site that are made from the code, so none can be stale.

MkDocs calls `on_files`; nothing is written into docs/.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from notebook_page import write_notebook  # noqa: E402
from parameter_page import write_parameters  # noqa: E402

from tb_slowdown_plugin.catalog.causes import CAUSES  # noqa: E402
from tb_slowdown_plugin.cli.parsing.arguments import build_parser  # noqa: E402

NOTEBOOK = ROOT / "docs" / "quickstart.ipynb"
HTTP_API = ROOT / "tb_slowdown_plugin" / "server" / "http_api.md"
ON_THE_SITE = {
    "(quickstart.ipynb)": "(notebook.md)",
    "(../tb_slowdown_plugin/server/http_api.md)": "(http.md)",
}
"""Links that lead to the source where docs/ is read as files -> to the page made from it."""


def on_config(config: Any) -> Any:
    """MkDocs's hook: the menu, with the page of each cause below "Causes"."""
    for entry in config.nav:
        if isinstance(entry, dict) and "Causes" in entry:
            pages = (f"causes/{one.id}.md" for one in CAUSES.values() if one.asked)
            entry["Causes"] = [{"Overview": entry["Causes"]}, *pages]
    return config


def on_files(files: Any, config: Any) -> Any:
    """MkDocs's hook: the files of the site, and those that are made here."""
    from mkdocs.structure.files import File

    pages = {
        "cli.md": write_commands(),
        "http.md": HTTP_API.read_text(encoding="utf-8"),
        "notebook.md": write_notebook(NOTEBOOK),
        "parameters.md": write_parameters(),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs's hook: the text of a page, with links to the pages that are made here.

    The page of a cause gets the program that has it: in the repository it is a file of its own.
    """
    for link, target in ON_THE_SITE.items():
        markdown = markdown.replace(link, target)
    cause = CAUSES.get(Path(page.file.src_uri).stem)
    if cause is not None and page.file.src_uri.startswith("causes/"):
        program = ROOT / "tests" / "programs" / f"{cause.program}.py"
        markdown += f"\n```python\n{program.read_text(encoding='utf-8').rstrip()}\n```\n"
    return markdown


def write_commands() -> str:
    """Each command as argparse lays it out, so that the page can't differ from `--help`."""
    os.environ["COLUMNS"] = "90"  # argparse wraps its help to the terminal
    parts = ["# The command `tbslow`", "The same as `python -m tb_slowdown_plugin`."]
    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    for name, command in commands.choices.items():
        parts.append(f"## `tbslow {name}`\n\n```text\n{command.format_help().rstrip()}\n```")
    return "\n\n".join(parts) + "\n"

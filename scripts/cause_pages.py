"""The documentation of each cause, all of it from where the cause itself is.

Words are the first paragraphs of its module, fixes are those that it offers for its `EXAMPLES`,
and the program is the one that the catalog names.
"""

from __future__ import annotations

import inspect
import textwrap
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cause_reports import list_reports

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.common.offers import offered
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES, Cause

_LOOKS = "How it looks: "


def write_pages(root: Path) -> dict[str, str]:
    """File below docs -> its text."""
    return {f"causes/{one.id}.md": _page(root, one) for one in CAUSES.values() if one.asked}


def module_of(cause: Cause) -> ModuleType:
    """Where a cause is found and told."""
    folder = FAMILIES[cause.family].folder
    return import_module(f"tb_slowdown_plugin.analysis.causes.{folder}.{cause.id}")


def describe(module: ModuleType) -> tuple[str, str]:
    """What a cause is, and how it looks: the paragraphs of its docstring up to "How it looks".

    Example:
      >>> from tb_slowdown_plugin.analysis.causes.model import backward_pass
      >>> describe(backward_pass)[0]
      'Computing gradients takes longer and longer.'
    """
    paragraphs = [" ".join(one.split()) for one in inspect.getdoc(module).split("\n\n")]
    (at,) = (i for i, one in enumerate(paragraphs) if one.startswith(_LOOKS))
    return " ".join(paragraphs[:at]), paragraphs[at].removeprefix(_LOOKS)


def list_fixes(module: ModuleType) -> list[Advice]:
    """The advice for the examples of a cause, none of it twice."""
    (home,) = (
        one
        for name, one in {"": module, **vars(module)}.items()
        if hasattr(one, "EXAMPLES") and (one is module or name.endswith("_fixes"))
    )
    fixes = (fix for evidence in home.EXAMPLES for fix in offered(home.OFFERS, evidence))
    return list(dict.fromkeys(fixes))


def _page(root: Path, cause: Cause) -> str:
    module = module_of(cause)
    what, looks = describe(module)
    parts = [
        f"# {cause.title}",
        f"`{cause.id}` in the report's JSON and the HTTP API.",
        "## What it is",
        textwrap.fill(what, 100),
        "## How it looks",
        textwrap.fill(looks, 100),
        "## What to change",
        "A report has only the fixes that apply to the run.",
    ]
    for number, fix in enumerate(list_fixes(module), start=1):
        parts.append(textwrap.fill(f"**{number}.** {fix.text}", 100, break_long_words=False))
        if fix.code:
            example = "\n".join(line for _, line in as_example(fix.code))
            parts.append(f"Example, {fix.where}:\n\n```python\n{example}\n```")
        if fix.price:
            parts.append(textwrap.fill(f"*Trade-off:* {fix.price}", 100, break_long_words=False))
    code = (root / "tests" / "programs" / f"{cause.program}.py").read_text(encoding="utf-8")
    parts += [
        "## A program that has it",
        f"`tests/programs/{cause.program}.py`. `healthy` leaves the defect out; `truth` is told "
        "what it cost, by a clock that the monitor knows nothing of.",
        f"```python\n{code.rstrip()}\n```",
    ]
    parts += ["## Real reports", list_reports(cause.id)]
    return "\n\n".join(parts) + "\n"

"""The lines of a snippet, signed as the page shows them.

>>> print(snippet(old("ds = ds.map(f)"), new("ds = ds.map(f).prefetch(1)"), same("fit(ds)")))
- ds = ds.map(f)
+ ds = ds.map(f).prefetch(1)
  fit(ds)
"""

from __future__ import annotations


def new(*lines: str) -> list[str]:
    """Lines to add."""
    return [f"+ {line}" for line in lines]


def old(*lines: str) -> list[str]:
    """Lines to remove."""
    return [f"- {line}" for line in lines]


def same(*lines: str) -> list[str]:
    """Lines around, that stay."""
    return [f"  {line}" for line in lines]


def snippet(*groups: list[str]) -> str:
    """The text of a snippet."""
    return "\n".join(line for group in groups for line in group)


def as_example(code: str) -> list[tuple[str, str]]:
    """The lines of a snippet as they are shown: nothing in it is the reader's to remove.

    Example:
      >>> as_example("-     ds = ds.map(f)")
      [(' ', '    # before: ds = ds.map(f)')]

    Returns:
      Sign ("+" for a new line) and text of each.
    """
    lines = []
    for line in code.splitlines():
        sign, text = line[:1], line[2:]
        if sign == "-":
            words = text.lstrip()
            sign, text = " ", f"{text[: len(text) - len(words)]}# before: {words}"
        lines.append((sign, text))
    return lines

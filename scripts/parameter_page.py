"""The page of the documentation on the numbers by which the analysis decides."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from tb_slowdown_plugin.catalog import parameters
from tb_slowdown_plugin.catalog.parameter import Count, Parameter


def list_parameters() -> Iterator[tuple[str, str, dict[str, Parameter | Count]]]:
    """Each stage, its title, and its thresholds by name, in the order in which they are defined."""
    for found in pkgutil.iter_modules(parameters.__path__):
        module = import_module(f"{parameters.__name__}.{found.name}")
        named = vars(module).items()
        values = {name: one for name, one in named if isinstance(one, Parameter | Count)}
        yield found.name, str(module.__doc__).partition(":")[0], values


def write_parameters() -> str:
    """The page: a table a stage."""
    parts = [
        "# Decision thresholds",
        "The numbers by which the report decides, from `tb_slowdown_plugin/catalog/parameters/`. "
        "They can't be set: a report means the same everywhere.",
    ]
    for _, title, values in list_parameters():
        rows = (
            f"| `{name}` | {one:g} {one.unit} | {one.what} | {one.source} |"
            for name, one in values.items()
        )
        head = "| name | value | what it decides | where it is from |\n|---|---|---|---|"
        parts += [f"## {title}", "\n".join((head, *rows))]
    return "\n\n".join(parts) + "\n"

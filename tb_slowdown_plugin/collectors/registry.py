"""The collectors that a monitor runs unless it is told otherwise."""

from __future__ import annotations

from importlib import import_module

from tb_slowdown_plugin.catalog.collectors import COLLECTORS
from tb_slowdown_plugin.collectors.base import Collector


def create() -> list[Collector]:
    """A new collector of each family, in the order of the catalog.

    Nothing is hooked or read before `start`, and TensorFlow is not imported.

    Example:
      >>> {"gc", "input_wait"} <= {collector.name for collector in create()}
      True
    """
    made: dict[str, Collector] = {}
    for row in COLLECTORS.values():
        module, _, name = row.home.partition(":")
        if module:
            kind = getattr(import_module(f"tb_slowdown_plugin.collectors.{module}"), name)
            made[row.id] = kind(*(made[one] for one in row.needs))
    return list(made.values())

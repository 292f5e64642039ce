"""Configuration and environment of a run, as far as its records tell them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.records.run import Run


def settings_of(run: Run) -> dict[str, str | float]:
    """Name -> value: versions, devices, items a step, workers."""
    environment = run.environment
    kinds = sorted({kind for _, kind in environment.devices})
    devices = ", ".join(
        f"{sum(each == kind for _, each in environment.devices)} {kind}" for kind in kinds
    )
    items = run.steps.items
    told = items[np.isfinite(items)]
    found: dict[str, str | float] = dict(sorted(environment.versions.items()))
    if devices:
        found["devices"] = devices
    if len(told):
        found["items_per_step"] = float(np.round(np.median(told), 1))
    if len(run.workers) or environment.worker_count > 1:
        found["workers"] = float(max(1 + len(run.workers), environment.worker_count))
    return found


def tell_setting(settings: Mapping[str, str | float | bool], name: str) -> str:
    """The value of a setting in words.

    >>> tell_setting({"items_per_step": 64.0}, "items_per_step"), tell_setting({}, "keras")
    ('64', 'unknown')
    """
    value = settings.get(name, "unknown")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)

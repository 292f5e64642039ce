"""Where the monitors of a trial write to, whatever its program says: see `launch/trial.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

logdir: str | None = None
"""The logdir of all monitors of this process; None for the one that each is given."""
on_install: Callable[[Any], None] | None = None
"""Called with each monitor that becomes the one of this process."""

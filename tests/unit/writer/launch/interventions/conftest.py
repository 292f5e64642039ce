"""Interventions that a test installs, and that are gone after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tb_slowdown_plugin.writer.launch.interventions.base import Intervention


@pytest.fixture
def install() -> Iterator[Callable[..., Intervention]]:
    """Installs one of a kind, for so many steps."""
    made: list[Intervention] = []

    def make(kind: type[Intervention], steps: int = 200) -> Intervention:
        made.append(kind(steps))
        made[-1].install()
        return made[-1]

    yield make
    for each in made:
        each.hooks.remove()

"""A training turns 50% slower while a real `tensorboard` serves it, polled every second.

Two kinds, at once; `python benchmarks/live_slowdown.py` does all four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from integration.live_answers import JUDGED_SECONDS, NAMED_SECONDS

if TYPE_CHECKING:
    from integration.turned_slow import TurnedSlow

pytestmark = [pytest.mark.waiting, pytest.mark.tensorflow, pytest.mark.slow]


def test_it_is_told_at_once_and_never_contradicts_itself(turned_slow: TurnedSlow) -> None:
    for one in turned_slow.answers.values():
        assert len(one.answers) >= 20
        assert one.judged_seconds <= JUDGED_SECONDS, one.answers[-1]
        assert one.named_seconds <= NAMED_SECONDS, one.answers[-1]
        assert one.contradictions() == []

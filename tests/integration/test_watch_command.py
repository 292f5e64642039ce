"""A training that turns slow while `tbslow watch` looks: command, webhook, and metrics agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from integration.turned_slow import TurnedSlow

pytestmark = [pytest.mark.waiting, pytest.mark.tensorflow, pytest.mark.slow]

RUN = "callback"


def test_a_training_that_turns_slow_is_told_once_to_each_and_metrics_agree(
    turned_slow: TurnedSlow,
) -> None:
    told, changed = turned_slow.told, turned_slow.answers[RUN].changed
    assert told.status == 0
    run = told.report[RUN]
    lost = {cause["cause"]: cause["lost_seconds"] for cause in run["causes"]}
    # What is estimated, such as contention, isn't confirmed yet in a run that was live just now.
    assert told.metrics["tbslow_lost_seconds_total", RUN, "callbacks"] == pytest.approx(
        lost["callbacks"], rel=0.01
    )
    assert told.metrics["tbslow_step_seconds", RUN, None] == pytest.approx(
        run["recent"]["seconds"], rel=0.01
    )
    assert told.metrics["tbslow_healthy_step_seconds", RUN, None] == pytest.approx(
        run["healthy_step_seconds"], rel=0.01
    )
    assert told.metrics["tbslow_stalled", RUN, None] == 0.0
    found = [
        each for each in told.notices if each["cause"] == "callbacks" and each["event"] == "found"
    ]
    assert len(found) == 1
    posts = [(at, text) for at, text in told.posts if "Callbacks since" in text]
    assert len(posts) == 1
    assert changed is not None
    assert posts[0][0] - changed <= 45.0
    assert told.refused == 1
    assert "Callbacks since" in told.out
    assert "\x1b" not in told.out

"""A live run of eager steps of uneven work is judged as a finished one: not slower, not unsure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.live.follow import follow

SIZE = 320


@pytest.mark.parametrize(("spread", "verdict"), [(0.6, "healthy"), (0.04, "slowdown")])
def test_longer_episodes_are_no_slowdown_while_they_are_played(make_run, spread, verdict):
    moves = np.random.default_rng(2).uniform(1 - spread, 1 + spread, SIZE)
    seconds = 0.010 * np.linspace(1, 8, SIZE) * moves
    state = None
    for count in range(160, SIZE + 1, 40):
        run = make_run(seconds[:count], thread_cpu=seconds[:count], process_cpu=seconds[:count])
        steps = replace(run.steps, ran=np.ones(count, int), calls=np.zeros(count, int))
        account, state = follow(replace(run, steps=steps), state)
    assert account.report.verdict == verdict
    if verdict == "healthy":
        assert account.report.confirming is None
        assert account.report.judged == "partly"

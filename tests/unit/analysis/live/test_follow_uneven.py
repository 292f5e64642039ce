"""A live run of eager steps of uneven work is judged as a finished one: not slower, not unsure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.live.follow import follow

SIZE = 320
LONGER = np.where(np.arange(SIZE) < 250, 1.0, 4.0)


@pytest.mark.parametrize(("spread", "is_told"), [(0.6, False), (0.04, True)])
def test_longer_episodes_are_no_slowdown_while_they_are_played(make_run, spread, is_told):
    moves = np.random.default_rng(2).uniform(1 - spread, 1 + spread, SIZE)
    seconds = 0.100 * LONGER * moves
    state, told = None, set()
    for count in range(160, SIZE + 1, 10):
        run = make_run(seconds[:count], thread_cpu=seconds[:count], process_cpu=seconds[:count])
        steps = replace(run.steps, ran=np.ones(count, int), calls=np.zeros(count, int))
        account, state = follow(replace(run, steps=steps), state)
        report = account.report
        told |= {report.verdict == "slowdown" or report.confirming is not None}
    assert (True in told) == is_told

"""What a step takes at the end of a run."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.recent import find_recent


@pytest.mark.parametrize(("size", "rows"), [(100, 20), (400, 20), (1000, 50)])
def test_the_last_twentieth_at_least_20_steps(make_run, size, rows):
    period = np.full(size, 0.01)
    period[-rows:] = 0.02
    found = find_recent(make_run(period))
    assert found is not None
    assert (found.seconds, found.steps) == (0.02, rows)


def test_a_short_run_has_no_end_of_its_own(make_run):
    assert find_recent(make_run(np.full(99, 0.01))) is None


def test_times_that_are_not_known_are_left_out(make_run):
    period = np.full(100, 0.01)
    period[-10:] = np.nan
    found = find_recent(make_run(period))
    assert found is not None
    assert found.seconds == 0.01
    period[-20:] = np.nan
    assert find_recent(make_run(period)) is None

"""A run that has just begun is written often, an old one seldom, and fast steps are looked at."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.sampling import flush_schedule as schedule


@pytest.mark.parametrize(
    ("age", "seconds"), [(0.0, 1.0), (4.0, 4.0), (100.0, 10.0), (3600.0, 30.0), (1e6, 30.0)]
)
def test_records_are_written_less_often_the_older_the_run_is(age: float, seconds: float) -> None:
    assert schedule.flush_seconds(age) == seconds


def test_no_look_comes_so_late_that_steps_are_lost() -> None:
    assert schedule.look_seconds(1.0, 16_384) == schedule.LOOK_SECONDS
    assert schedule.look_seconds(1.0, 65_536) == 0.25
    assert schedule.look_seconds(0.25, 65_536) == pytest.approx(0.0625)

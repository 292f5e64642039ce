"""What is named in runs that wait for input."""

from __future__ import annotations

import pytest
from unit.analysis.steady_steps import STEP


@pytest.fixture
def cause_of(make_run, find, judge):
    """What is named in steps of 10 ms with such waits, all of which the engine found."""

    def cause(pattern, wait, events=()):
        run = make_run(STEP + wait, accounts={"input_wait": wait}, events=events)
        (named,) = judge(run, find("input_wait", pattern, wait)).report.causes
        return named

    return cause

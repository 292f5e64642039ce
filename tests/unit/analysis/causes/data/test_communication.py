"""Workers that wait: for whom, as far as their records tell."""

from dataclasses import replace

import numpy as np
import pytest

SIZE = 600
WAIT = np.full(SIZE, 0.02)


def test_without_the_other_workers_only_the_wait_is_told(make_run, find, judge):
    run = make_run(0.03 + WAIT, accounts={"communication": WAIT})
    (cause,) = judge(run, find("communication", "flat", WAIT)).report.causes
    assert cause.cause == "communication"
    assert cause.lost_seconds == pytest.approx(12.0)
    assert cause.summary == "Each step waits for other workers throughout the run."


def test_the_number_of_workers_and_the_first_slow_step_are_told(make_run, find, judge):
    late = np.where(np.arange(SIZE) >= 200, 0.02, 0.0)
    run = make_run(0.03 + late, accounts={"communication": late})
    run = replace(run, environment=replace(run.environment, worker_count=4))
    (cause,) = judge(run, find("communication", "level_shift", late)).report.causes
    assert cause.summary == "Each step waits for other workers (4 in total) since step 200."


def test_other_accounts_are_not_communication(make_run, find, judge):
    run = make_run(0.03 + WAIT, accounts={"input_wait": WAIT})
    report = judge(run, find("input_wait", "flat", WAIT)).report
    assert "communication" not in [cause.cause for cause in report.causes]

"""A step that was compiled again and does more is another step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Change, Trace

SIZE = 600
STEP = 0.004
AGAIN = (Change("model", "python_object", "compiled", "the same model, compiled again"),)


def built(number, operations, cause="new_object"):
    changes = AGAIN if cause == "new_object" else ()
    function, place = "Keras train step", "train.py:12"
    return Trace(
        number, function, place, 0.0001, 0.0001, cause, number, operations, changes=changes
    )


@pytest.fixture
def shifted(make_run, find, judge):
    """The report of a run whose steps take twice as long from row 300 on."""

    def report(*traces):
        shift = np.where(np.arange(SIZE) >= 300, STEP, 0.0)
        run = make_run(STEP + shift, events=[(0, built(1, 217, "first")), *traces])
        return judge(run, find("core", "level_shift", shift, confidence="medium")).report

    return report


def test_layers_that_are_trained_from_an_epoch_on_are_more_work(shifted):
    report = shifted((300, built(2, 529)))

    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    assert report.notes == (
        "At step 300, the Keras train step was rebuilt with 529 operations instead of 217. The "
        "extra time (1.2 s, 33.3% of the run) is workload and isn't counted as lost.",
    )


def test_two_stages_that_look_like_a_growth_are_more_work(make_run, find, judge):
    def report(inside):
        step = np.repeat([STEP, 2 * STEP, 3 * STEP], SIZE // 3) + inside
        traces = [(0, built(1, 217, "first")), (200, built(2, 529)), (400, built(3, 772))]
        lost = step - STEP
        found = find("core", "drift", np.where(np.arange(SIZE) < 190, 0.0, lost))
        return judge(make_run(step, events=traces), found).report

    assert report(0.0).verdict == "healthy"
    assert report(np.linspace(0.0, STEP, SIZE)).verdict == "slowdown"


def test_each_function_is_counted_by_itself(shifted):
    validated = [
        (row, replace(built(row, 50 + row), function="Keras test step")) for row in (10, 200, 310)
    ]
    assert shifted((300, built(2, 529)), *validated).verdict == "healthy"


@pytest.mark.parametrize(
    "traces",
    [
        pytest.param([], id="not built anew"),
        pytest.param([(300, built(2, 217))], id="as large as before"),
        pytest.param([(150, built(2, 529))], id="at another time"),
        pytest.param([(300, built(2, 529, "signature"))], id="for other arguments"),
        pytest.param(
            [(row, built(row, 217 + row)) for row in (100, 200, 300, 400)], id="larger each time"
        ),
    ],
)
def test_other_jumps_stay_lost(shifted, traces):
    assert shifted(*traces).unexplained_seconds == pytest.approx(1.2)

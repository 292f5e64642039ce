"""Growth of a step that lies in a phase that copies is the copies'."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Place

SIZE = 1000
GROWTH = np.linspace(0.0, 0.010, SIZE)
NOISE = 1e-4 * np.random.default_rng(2).random(SIZE)


@pytest.mark.parametrize(
    ("phase", "named"), [("to_device", True), ("transfer", True), ("augment", False)]
)
def test_a_phase_that_copies_is_known_by_its_name(make_run, phase, named):
    accounts = {f"phase:{phase}": 0.002 + GROWTH}
    run = make_run(0.010 + GROWTH + NOISE, accounts=accounts)
    causes = {cause.cause: cause for cause in account_for(run).report.causes}
    assert ("host_device_transfer" in causes) == named
    if named:
        cause = causes["host_device_transfer"]
        assert cause.lost_seconds == pytest.approx(GROWTH.sum(), rel=0.1)
        assert cause.summary == (
            f"The phase `{phase}`, which copies between host and device, got slower."
        )


def test_advice_is_for_the_direction_that_the_name_tells(make_run):
    accounts = {"phase:to_host": 0.002 + GROWTH}
    run = make_run(0.010 + GROWTH + NOISE, accounts=accounts)
    (cause,) = account_for(run).report.causes
    assert not any(each.text.startswith("Copy the next batch") for each in cause.advice)
    assert cause.advice


@pytest.mark.parametrize(("fed", "is_told"), [(0.006, True), (0.0004, False)])
def test_what_a_session_converts_in_each_step_is_told_from_a_share_on(make_run, fed, is_told):
    seconds = np.full(SIZE, fed)
    run = make_run(0.010 + seconds, accounts={"feeding:rank.py:88": seconds})
    causes = account_for(run).report.causes
    assert bool(causes) is is_told
    for cause in causes:
        assert (cause.cause, cause.place) == ("host_device_transfer", Place("rank.py", 88, "run"))
        assert cause.lost_seconds == pytest.approx(SIZE * fed)
        assert cause.summary == (
            "Before it runs, the session converts what it is fed in rank.py:88, 6 ms at every "
            "step: arrays of another type than their placeholder, or lists."
        )
        (advice,) = cause.advice
        assert advice.text.startswith("Feed arrays that have their placeholder's type")

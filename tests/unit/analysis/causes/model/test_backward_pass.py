"""Growth of a step that lies in the phase of gradients is theirs; that of another phase is not."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 1000
GROWTH = np.linspace(0.0, 0.010, SIZE)
NOISE = 1e-4 * np.random.default_rng(2).random(SIZE)


@pytest.mark.parametrize(("phase", "named"), [("backward", True), ("forward", False)])
def test_growth_in_the_phase_is_named(make_run, phase, named):
    accounts = {"forward": np.full(SIZE, 0.004), "backward": np.full(SIZE, 0.004)}
    accounts[phase] = accounts[phase] + GROWTH
    run = make_run(0.010 + GROWTH + NOISE, accounts=accounts)
    assert diagnose(run.steps.period_seconds, accounts).verdict == "slowdown"
    causes = {cause.cause: cause for cause in account_for(run).report.causes}
    assert ("backward_pass" in causes) == named
    if named:
        cause = causes["backward_pass"]
        assert (cause.confidence, cause.summary) == (
            "high", "The backward pass got slower.",
        )  # fmt: skip
        assert cause.lost_seconds == pytest.approx(GROWTH.sum(), rel=0.1)

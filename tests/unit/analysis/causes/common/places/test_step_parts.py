"""Parts of the step that hold a growth."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.places.step_parts import main_phase, share_of


def test_the_phase_that_holds_most_of_a_rise(find):
    shares = {"share:phase:load": 0.2, "share:phase:copy": 0.7, "share:backward": 0.1}
    finding = find("core", "drift", np.ones(5), **shares)
    assert main_phase(finding) == ("copy", 0.7)
    assert share_of(finding, "phase") == pytest.approx(0.9)

"""An intervention counts what it changes; by default a step is one batch."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.launch.interventions.base import Intervention


def test_it_begins_without_an_effect() -> None:
    intervention = Intervention(200)
    intervention.after_step(1)
    assert (intervention.steps, intervention.applied) == (200, 0)
    assert intervention.batches_in(None) == 1.0
    with pytest.raises(NotImplementedError):
        intervention.install()

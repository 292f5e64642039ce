"""Samples of a stack, for what looks at them."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, of=60.0, **more):
    return Fact("python_stack", place, {"samples": samples, "of": of, **more})


def case_of(make_run, *events):
    return Case(make_run(np.full(600, 0.1), events=events), None, (), ())

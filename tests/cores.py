"""What a test needs of the machine that it runs on."""

from __future__ import annotations

import os

import pytest

needs_two_cores = pytest.mark.skipif(
    hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) < 2,
    reason="with one core TensorFlow runs the operations of a graph one after the other",
)

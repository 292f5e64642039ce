"""A GPU that TensorFlow does not see is told, and one that it uses or that is hidden is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Environment

CPU, GPU = ("CPU:0", "CPU"), ("GPU:0", "NVIDIA H200")


def judge(make_run, devices, gpus):
    limits = {"machine_gpus": gpus} if gpus else {}
    run = make_run(np.full(600, 0.01))
    environment = Environment(devices=devices, limits=limits)
    return account_for(replace(run, environment=environment)).report


@pytest.mark.parametrize(("gpus", "told"), [(1.0, "1 GPU"), (8.0, "8 GPUs")])
def test_it_is_told_in_the_headline_and_in_a_note(make_run, gpus, told):
    report = judge(make_run, (CPU,), gpus)
    assert report.headline.endswith(f"But TensorFlow sees none of the machine's {told}.")
    (note,) = (each for each in report.notes if "TensorFlow sees none" in each)
    assert "tensorflow[and-cuda]" in note


@pytest.mark.parametrize(
    ("devices", "gpus"),
    [((CPU, GPU), 1.0), ((CPU,), 0.0), ((), 1.0), ((("TPU:0", "TPU"), CPU), 1.0)],
    ids=["used", "none", "devices not known", "another device"],
)
def test_nothing_is_told_where_it_is_used_or_not_there(make_run, devices, gpus):
    report = judge(make_run, devices, gpus)
    assert "TensorFlow sees" not in " ".join([report.headline, *report.notes])

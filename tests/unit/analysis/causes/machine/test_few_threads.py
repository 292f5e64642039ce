"""Fewer threads than cores are told where they are busy, and charged nowhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Environment

SIZE = 600
CPU, GPU = ("CPU:0", "CPU"), ("GPU:0", "NVIDIA H200")


def judge(make_run, busy, *, training=0.02, devices=(CPU,), workers=1, **limits):
    """Of threads that keep so many cores busy, beside the training thread."""
    run = make_run(
        np.full(SIZE, 0.01),
        process_cpu=np.full(SIZE, 0.01 * (busy + training)),
        thread_cpu=np.full(SIZE, 0.01 * training),
    )
    environment = Environment(devices=devices, limits=limits, worker_count=workers)
    return account_for(replace(run, environment=environment)).report


def test_it_is_told_in_the_headline_and_in_a_note(make_run):
    report = judge(make_run, 0.97, cpu_count=8.0, intra_op_threads=1.0)
    assert report.verdict == "healthy"
    assert report.lost_seconds == 0
    assert report.headline.endswith(
        "But TensorFlow is limited to 1 thread on 8 cores, which can make each step longer."
    )
    (note,) = (each for each in report.notes if "intra_op" in each)
    assert "may use 8 cores: beside the training thread, a step keeps 0.97 of them busy" in note
    assert "`tbslow try --only threads` measures it with 8 threads" in note


def test_of_a_container_the_cores_of_its_quota_count(make_run):
    report = judge(make_run, 1.9, cpu_count=64.0, cpu_quota_cores=4.5, intra_op_threads=2.0)
    assert report.headline.endswith(
        "But TensorFlow is limited to 2 threads on 4 cores, which can make each step longer."
    )


ONE_OF_EIGHT = {"cpu_count": 8.0, "intra_op_threads": 1.0}


@pytest.mark.parametrize(
    ("busy", "more"),
    [
        (0.97, {"cpu_count": 8.0}),
        (0.97, {"intra_op_threads": 1.0}),
        (1.9, {"cpu_count": 2.0, "intra_op_threads": 2.0}),
        (1.9, {"cpu_count": 8.0, "cpu_quota_cores": 2.0, "intra_op_threads": 2.0}),
        (0.4, ONE_OF_EIGHT),
        (0.05, {**ONE_OF_EIGHT, "training": 0.95}),
        (np.nan, ONE_OF_EIGHT),
        (0.97, {**ONE_OF_EIGHT, "devices": (CPU, GPU)}),
        (0.97, {**ONE_OF_EIGHT, "devices": ()}),
        (0.97, {**ONE_OF_EIGHT, "workers": 8}),
    ],
    ids=[
        "not set",
        "cores not known",
        "one each",
        "a quota",
        "it waits",
        "the training thread computes",
        "CPU time not known",
        "a GPU",
        "devices not known",
        "several workers",
    ],
)
def test_nothing_is_told(make_run, busy, more):
    report = judge(make_run, busy, **more)
    assert "limited to" not in report.headline
    assert not [each for each in report.notes if "intra_op" in each]

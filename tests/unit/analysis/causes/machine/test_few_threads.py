"""Fewer threads than cores are told where they are busy, and charged nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 600


def judge(make_run, busy, **limits):
    run = make_run(np.full(SIZE, 0.01), process_cpu=np.full(SIZE, 0.01 * busy), limits=limits)
    return account_for(run).report


def test_it_is_told_in_the_headline_and_in_a_note(make_run):
    report = judge(make_run, 0.97, cpu_count=8.0, intra_op_threads=1.0)
    assert report.verdict == "healthy"
    assert report.lost_seconds == 0
    assert report.headline.endswith(
        "But TensorFlow is limited to 1 thread on 8 cores, which makes large operations take "
        "longer."
    )
    (note,) = (each for each in report.notes if "intra_op" in each)
    assert "may use 8 cores: a step keeps 0.97 of them busy" in note
    assert "`tbslow try --only threads` measures it with 8 threads" in note


def test_of_a_container_the_cores_of_its_quota_count(make_run):
    report = judge(make_run, 1.9, cpu_count=64.0, cpu_quota_cores=4.5, intra_op_threads=2.0)
    assert report.headline.endswith(
        "But TensorFlow is limited to 2 threads on 4 cores, which makes large operations take "
        "longer."
    )


@pytest.mark.parametrize(
    ("busy", "limits"),
    [
        (0.97, {"cpu_count": 8.0}),
        (0.97, {"intra_op_threads": 1.0}),
        (1.9, {"cpu_count": 2.0, "intra_op_threads": 2.0}),
        (1.9, {"cpu_count": 8.0, "cpu_quota_cores": 2.0, "intra_op_threads": 2.0}),
        (0.4, {"cpu_count": 8.0, "intra_op_threads": 1.0}),
        (np.nan, {"cpu_count": 8.0, "intra_op_threads": 1.0}),
    ],
    ids=["not set", "cores not known", "one each", "a quota", "it waits", "CPU time not known"],
)
def test_nothing_is_told(make_run, busy, limits):
    report = judge(make_run, busy, **limits)
    assert "limited to" not in report.headline
    assert not [each for each in report.notes if "intra_op" in each]

"""What `tbslow try` has left beside a run is read; a damaged file is none."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.jobs.trial_results import keep_trials
from tb_slowdown_plugin.reader.trials import read_trials, trials_file, trials_version
from tb_slowdown_plugin.records.trials import Trial

TRIAL = Trial(
    experiment="prefetch",
    step_seconds=(0.2, 0.1),
    speedup=2.0,
    interval=(1.9, 2.1),
    confirms="input_pipeline",
    changes_results="no",
    adopt="ds = ds.prefetch(1)",
    tests=("input_pipeline",),
    tried_at=1e9,
)


def test_they_come_back_as_they_were_kept(tmp_path: Path) -> None:
    keep_trials(tmp_path, "run1", [TRIAL])
    assert read_trials(tmp_path, "run1") == (TRIAL,)
    assert read_trials(tmp_path, ".") == ()
    assert [each.name for each in (tmp_path / "run1" / "slowdown").iterdir()] == [
        "experiments.json"
    ]


def test_a_newer_result_takes_the_place_of_the_older(tmp_path: Path) -> None:
    other = replace(TRIAL, experiment="xla", confirms=None)
    keep_trials(tmp_path, ".", [TRIAL, other])
    newer = replace(TRIAL, speedup=2.05)
    keep_trials(tmp_path, ".", [newer])
    assert read_trials(tmp_path, ".") == (other, newer)


def test_the_version_changes_with_the_file(tmp_path: Path) -> None:
    assert trials_version(tmp_path, ".") is None
    keep_trials(tmp_path, ".", [TRIAL])
    first = trials_version(tmp_path, ".")
    assert first is not None
    assert trials_version(tmp_path, ".") == first
    os.utime(trials_file(tmp_path, "."), ns=(first[0] + 1, first[0] + 1))
    assert trials_version(tmp_path, ".") != first


def body(**changed: Any) -> str:
    experiment = {
        "experiment": "xla",
        "step_seconds": [0.2, 0.1],
        "speedup": 2.0,
        "interval": [1.9, 2.1],
        "confirms": None,
        "changes_results": "no",
        "adopt": "",
        "tried_at": 1.0,
    }
    return json.dumps({"experiments": [experiment | changed]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"experiments": 5}',
        '{"experiments": [5]}',
        '{"experiments": [{}]}',
        body(speedup=float("nan")),
        body(speedup=-1.0),
        body(interval=[1.0]),
        body(interval=[0.0, 1.0]),
        body(step_seconds="ab"),
        "\x00",
    ],
)
def test_a_damaged_file_is_none(tmp_path: Path, text: str) -> None:
    file = trials_file(tmp_path, ".")
    file.parent.mkdir()
    file.write_text(text)
    assert read_trials(tmp_path, ".") == ()


def test_keys_that_are_newer_are_no_damage(tmp_path: Path) -> None:
    file = trials_file(tmp_path, ".")
    file.parent.mkdir()
    file.write_text(body(more=5))
    assert [each.experiment for each in read_trials(tmp_path, ".")] == ["xla"]

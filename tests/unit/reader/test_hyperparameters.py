"""What the HParams plugin has of a run: in its directory or below it, not of other runs."""

from __future__ import annotations

from pathlib import Path

import event_files
from many_runs import write_hyperparameters

from tb_slowdown_plugin.reader.hyperparameters import read_hyperparameters


def test_they_are_those_logged_in_a_run_or_below_it(tmp_path: Path) -> None:
    chunks = event_files.split(event_files.make_steps(20), chunk_rows=10)
    for name in ("a", "b", "a/nested"):
        event_files.write_chunks(tmp_path / name / "slowdown", chunks)
    write_hyperparameters(tmp_path / "a", lr=0.1)
    write_hyperparameters(tmp_path / "b" / "train", lr=0.2, units=64.0)
    write_hyperparameters(tmp_path / "a" / "nested" / "train", lr=0.3, depth=2.0)
    assert read_hyperparameters(tmp_path, "a") == {"lr": 0.1}
    assert read_hyperparameters(tmp_path, "b") == {"lr": 0.2, "units": 64.0}
    assert read_hyperparameters(tmp_path, "a/nested") == {"lr": 0.3, "depth": 2.0}
    assert read_hyperparameters(tmp_path / "b", ".") == {"lr": 0.2, "units": 64.0}
    assert read_hyperparameters(tmp_path, ".") == {}
    assert read_hyperparameters(tmp_path, "gone") == {}


def test_a_file_that_is_damaged_or_of_something_else_has_none(tmp_path: Path) -> None:
    write_hyperparameters(tmp_path, lr=0.1)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damaged in (whole[:-30], b"\x00" * 64, b""):
        path.write_bytes(damaged)
        assert read_hyperparameters(tmp_path, ".") == {}
    path.write_bytes(whole)
    assert read_hyperparameters(tmp_path, ".") == {"lr": 0.1}

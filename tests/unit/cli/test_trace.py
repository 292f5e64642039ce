"""`tbslow trace`: which captures it finds, and what it says of those that it can't read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tb_slowdown_plugin.cli.command import main


@pytest.fixture
def logdir(root: Path, tmp_path: Path) -> Path:
    session = tmp_path / "plugins" / "profile" / "2026_01_01_00_00_00"
    session.mkdir(parents=True)
    packed = root / "tests" / "unit" / "profiler" / "data" / "retrace.xplane.pb.gz"
    (session / "host.xplane.pb").write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


def test_a_capture_below_a_logdir_is_summed_up(
    logdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(logdir), "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == 1
    (capture,) = body["captures"]
    assert capture["file"].endswith("host.xplane.pb")


def test_a_broken_capture_beside_a_whole_one_is_told_and_the_rest_printed(
    logdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (session,) = (logdir / "plugins" / "profile").iterdir()
    (session / "zz_broken.xplane.pb").write_bytes(b"\xff" * 50)
    assert main(["trace", str(logdir), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert len(json.loads(out)["captures"]) == 1
    assert "can't read the capture" in err
    assert "zz_broken.xplane.pb" in err


@pytest.mark.parametrize(
    ("place", "why"), [("none", "no such file or directory"), ("", "no profiler capture below")]
)
def test_where_there_is_none_it_says_what_to_give(
    tmp_path: Path, place: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(tmp_path / place)]) == 2
    assert why in capsys.readouterr().err

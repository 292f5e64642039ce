"""`tbslow trace`: what it prints of recorded captures, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from integration.command_line import refusal
from unit.profiler.real_captures import DAMAGED, MI300, V100, write

from tb_slowdown_plugin.__main__ import main


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["trace", *arguments]) == status
    return capsys.readouterr().out


def test_json_of_the_v100s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(V100, tmp_path)
    answer = json.loads(printed(capsys, str(tmp_path), "--format", "json"))
    assert answer.keys() == {"schema", "captures"}
    (capture,) = answer["captures"]
    assert capture["file"] == str(path)
    assert capture["devices"] == [f"/device:GPU:{n}" for n in range(8)]
    assert (capture["steps"], capture["steps_by"]) == (2, "step_line")
    assert capture["step_seconds"] == pytest.approx(0.0206, rel=0.01)
    assert sum(part["seconds"] for part in capture["parts"]) == pytest.approx(
        2 * capture["step_seconds"]
    )
    assert capture["copies"]["host_to_device_seconds"] == pytest.approx(0.394e-3, rel=0.01)
    assert capture["copies"]["device_to_host_seconds"] == pytest.approx(0.077e-3, rel=0.01)
    assert capture["copies"]["within_device_seconds"] == 0.0
    assert len(capture["top"]) == 10
    assert capture["top"][0]["calls"] == 194
    assert capture["top"][0]["seconds"] == pytest.approx(7.908e-3, rel=0.01)
    shares = capture["efficiency"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["computes"] == pytest.approx(0.721, abs=0.002)
    assert [one["device"] for one in capture["device_shares"]] == ["/device:GPU:4", "/device:GPU:6"]
    assert any("launches 1,330 kernels" in hint for hint in capture["hints"])


@pytest.mark.parametrize("name", [V100, MI300])
def test_text_fits_one_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text = printed(capsys, str(write(name, tmp_path)))
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert "idle" in text


def test_text_of_the_v100s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, str(write(V100, tmp_path)))
    assert "2 steps of 20.6 ms on average, by the devices' line of steps; 2 of 8" in text
    assert "2 devices are idle 28% of each step: they wait for the host." in text
    assert "Copies: 202 to devices in 0.39 ms, 79.2 KiB; 24 to the host in 77 \u00b5s" in text
    assert "`Iterator::Generator`" in text
    assert "`GPU_4_bfc`" in text


def test_a_host_without_devices_has_no_copies_that_anybody_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from unit.profiler.xspace_writer import steps_of

    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(steps_of(3, [("tf_Compute/1", "a/MatMul:MatMul", 1, 4)]))
    (capture,) = json.loads(printed(capsys, str(tmp_path), "--format", "json"))["captures"]
    assert set(capture["copies"].values()) == {None}
    assert capture["efficiency"] is None
    assert capture["top"] == [
        {"name": "a/MatMul:MatMul", "calls": 3, "seconds": pytest.approx(0.012)}
    ]
    assert "3 steps of 10 ms on average" in printed(capsys, str(path))


def test_the_damaged_file_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(DAMAGED, tmp_path)
    for arguments in ([], ["--format", "json"]):
        assert refusal(capsys, "trace", str(path), *arguments) == (
            f"can't read the capture '{path}': the file is damaged: something copied it as text "
            "(UTF-8), which can't be undone; copy the capture again"
        )


def test_a_damaged_capture_among_others_does_not_hide_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = write(MI300, tmp_path / "a"), write(DAMAGED, tmp_path / "b")
    assert main(["trace", str(tmp_path), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert [one["file"] for one in json.loads(out)["captures"]] == [str(whole)]
    assert err.count("\n") == 1
    assert str(broken) in err


def test_what_is_no_capture_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file or directory" in refusal(capsys, "trace", str(tmp_path / "x"))
    assert "no profiler capture below" in refusal(capsys, "trace", str(tmp_path))
    page = tmp_path / "page.xplane.pb"
    page.write_text("<html>this is no trace</html>")
    assert "the file is no trace" in refusal(capsys, "trace", str(page))


def test_neither_tensorflow_nor_xprof_nor_tensorboard_is_loaded(tmp_path: Path) -> None:
    path = write(MI300, tmp_path)
    code = (
        "import sys\n"
        "from tb_slowdown_plugin.__main__ import main\n"
        f"assert main(['trace', {str(path)!r}]) == 0\n"
        "heavy = {'tensorflow', 'tensorboard', 'xprof', 'google', 'keras'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "8 devices are idle 97%" in done.stdout


def test_of_several_captures_the_newest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(MI300, tmp_path)
    older = path.parent.with_name("2025_01_01_00_00_00")
    shutil.copytree(path.parent, older)
    assert main(["trace", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(str(path)[:20])
    assert str(older) in err

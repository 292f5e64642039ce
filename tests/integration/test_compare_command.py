"""`tbslow compare` as a user or a script meets it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from event_files import make_steps, rows_of, split, write_chunks
from integration.command_line import refusal

from tb_slowdown_plugin.__main__ import main


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of 50 ms steps, and three of 60 ms."""
    root = tmp_path_factory.mktemp("logs")
    for index in range(3):
        for name, seconds in (("old", 0.05), ("new", 0.06)):
            steps = make_steps(400, seconds=seconds, seed=index)
            write_chunks(root / f"{name}{index}" / "slowdown", split(steps))
    return root


def sides(logs: Path) -> list[str]:
    return [
        "--base",
        *(f"{logs}/old{index}" for index in range(3)),
        "--with",
        *(f"{logs}:new{index}" for index in range(3)),
    ]


def test_the_json_is_the_comparison(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *sides(logs), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    body = json.loads(out)
    assert err == ""
    assert (body["schema"], body["outcome"], body["unit"]) == (1, "slower", "step")
    assert body["base"] == [f"{logs}/old{index}" for index in range(3)]
    assert body["total"]["fraction"] == pytest.approx(0.2, abs=0.02)
    low, high = body["total"]["interval_seconds"]
    assert 0 < low < 0.01 < high < 0.02
    summed = sum(term["difference_seconds"] for term in body["terms"])
    assert summed == pytest.approx(body["total"]["difference_seconds"])


def test_the_text_says_it_in_one_sentence(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *sides(logs)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith("3 runs (")
    assert (
        "Steps are 20% slower: 59.7 ms instead of 49.8 ms; most of it in the step's own work"
    ) in " ".join(out.split())
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines)
    assert "\x1b" not in out
    assert any(line.startswith("Sum") and line.endswith("slower") for line in lines)


def test_the_page_is_one_file_that_loads_nothing(logs: Path, tmp_path: Path) -> None:
    path = tmp_path / "compare.html"
    assert main(["compare", *sides(logs), "--format", "html", "-o", str(path)]) == 0
    page = path.read_text()
    assert "<h1>Steps are 20% slower: 59.7 ms instead of 49.8 ms; most of it in " in page
    assert f"<bdi>{logs.name}:new2</bdi>" in page
    assert str(logs) not in page  # it is sent to others
    assert page.count('<tr class="slower">') == 3  # healthy, the sum and its faster half
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "http:" not in page
    assert len(page) < 20_000


def test_names_stay_text_in_the_page(logs: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "<img src=x onerror=alert(1)>"
    write_chunks(hostile / "slowdown", split(make_steps(400, seconds=0.05)))
    path = tmp_path / "compare.html"
    runs = [f"{logs}/old0", str(hostile)]
    assert main(["compare", *runs, "--format", "html", "-o", str(path)]) == 0
    assert "<img" not in path.read_text()
    assert "&lt;img src=x" in path.read_text()


def test_a_page_is_not_drawn_on_a_terminal(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert refusal(capsys, "compare", *sides(logs), "--format", "html") == (
        "HTML output needs a file: add -o compare.html"
    )


def test_the_runs_of_a_directory_are_repeats(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("old", "new"):
        for index in range(3):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"run{index}").symlink_to(logs / f"{name}{index}")
    write_chunks(tmp_path / "old" / "young" / "slowdown", split(rows_of(make_steps(1), 0, 0)))
    two = [f"{tmp_path}/old", f"{tmp_path}/new"]
    assert main(["compare", *two, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == (f"tbslow: run 'young' of '{tmp_path}/old' has no step yet; it is left out\n")
    body = json.loads(out)
    assert sorted(body["base"]) == [f"{tmp_path}/old:run{index}" for index in range(3)]
    assert main(["compare", *sides(logs), "--format", "json"]) == 0
    named = json.loads(capsys.readouterr().out)["total"]
    assert named["interval_seconds"] == pytest.approx(body["total"]["interval_seconds"])


@pytest.mark.parametrize(("limit", "status"), [("5", 3), ("15", 3), ("30", 0)])
def test_fail_over_speaks_through_the_exit_status(logs: Path, limit: str, status: int) -> None:
    assert main(["compare", *sides(logs), "--fail-over", limit]) == status


def test_one_run_a_side_can_be_too_few(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faster = [f"{logs}/new0", f"{logs}/old0"]
    assert main(["compare", *faster, "--fail-over", "0"]) == 0
    near = ["--base", f"{logs}/old0", "--with", f"{logs}/old1", "--format", "json"]
    capsys.readouterr()
    assert main(["compare", *near]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["outcome"] == "no_difference"
    assert "is taken to be 5%, not measured" in body["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "nothing to compare; give two, or repeats as --base A1 A2 --with B1 B2"),
        (["L/old0"], "1 run to compare; give two, or repeats as --base A1 A2 --with B1 B2"),
        (
            ["L/old0", "L/old1", "L/new0"],
            "3 runs to compare; give two, or repeats as --base A1 A2 --with B1 B2",
        ),
        (
            ["L/old0", "--with", "L/new0"],
            "'L/old0' can't be combined with --base and --with; give two runs alone, or all after "
            "flags",
        ),
        (["L/old0", "L/old0"], "'L/old0' is on both sides; give another run to compare it with"),
        (["L", "L:new0"], "'L:new0' is on both sides; give another run to compare it with"),
        (["L/new0", "L:new0"], "'L:new0' is on both sides; give another run to compare it with"),
        (
            ["--base", "L/old0", "L/old1", "L:old0", "--with", "L/new0"],
            "'L:old0' is given twice; a run counts once",
        ),
        (["L:nope", "L:new0"], "'L' has no run 'nope'; it has 'new0', 'old0', 'new1' and 3 more"),
        (
            ["L/nope", "L/new0"],
            "no such directory: 'L/nope'; give the logdir that training wrote to",
        ),
    ],
)
def test_bad_input(
    logs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    given = [argument.replace("L", str(logs), 1) for argument in arguments]
    found = refusal(capsys, "compare", *given).replace(str(logs), "L")
    if "has no run" in expected:  # which names are near is difflib's business
        assert found.startswith(expected.partition("; it has")[0])
        return
    assert found == expected


def test_empty_and_broken_input(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken" / "slowdown").mkdir(parents=True)
    (tmp_path / "broken" / "slowdown" / "events.out.tfevents.1").write_bytes(b"\x01" * 100)
    assert refusal(capsys, "compare", f"{tmp_path}/empty", f"{logs}/new0") == (
        f"'{tmp_path}/empty' has no event files; give the logdir that training wrote to"
    )
    assert refusal(capsys, "compare", f"{logs}/new0", f"{tmp_path}/broken") == (
        f"'{tmp_path}/broken' has no readable slowdown data: event file "
        "slowdown/events.out.tfevents.1 is no event file (100 bytes unreadable)"
    )
    unwritable = [f"{logs}/old0", f"{logs}/new0", "-o", f"{tmp_path}/no/x.txt"]
    assert refusal(capsys, "compare", *unwritable) == (
        f"can't write '{tmp_path}/no/x.txt': No such file or directory; "
        "give a file in a directory that exists"
    )
    assert refusal(
        capsys, "compare", f"{logs}/old0", f"{logs}/new0", "--fail-over", "-3"
    ).startswith("argument --fail-over: ")


def test_a_run_without_a_step(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_chunks(tmp_path / "slowdown", split(rows_of(make_steps(1), 0, 0)))
    error = refusal(capsys, "compare", str(tmp_path), str(logs / "old0"))
    assert error == f"run '{tmp_path}' has no step yet; compare runs that have some"


def test_help_names_every_flag_and_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["compare", "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    for word in (
        "--base",
        "--with",
        "--format",
        "--output",
        "--fail-over",
        "exit status",
        "LOGDIR:RUN",
    ):
        assert word in out

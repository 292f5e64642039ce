"""`tbslow share`: the tab works on the copy, and nothing else is in it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from event_files import chunk_event as raw_chunk_event
from event_files import make_steps, scalar_event, split, write_chunks, write_events
from unit.profiler.xspace_writer import content, steps_of

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.cli import share as share_module
from tb_slowdown_plugin.records.types import Environment, Event, Trace

HOSTS = ["enigma-host", "ultra"]
SECRETS = ["ada-lovelace", "enigma-host", "/home/ada-lovelace/secret.py", "hunter2"]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"ada-lovelace": "user name", "enigma-host": "host name"}
    monkeypatch.setattr(share_module, "names_of_this_machine", lambda: names)


def traced(reason: str) -> Event:
    return Event(3, 1.0, Trace(1, "f", "train.py:4", 0.1, 0.1, "reported", reason=reason))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """`own` in a directory of its own, two workers; `idiom` between the user's scalars."""
    root = tmp_path / "logs"
    steps = make_steps(600, seed=1)
    environment = Environment(versions={"tensorflow": "2.21.0"})
    write_chunks(
        root / "own" / "slowdown",
        split(steps, events=[traced("new")], environment=environment),
    )
    write_chunks(root / "own" / "slowdown" / "worker-1", split(steps, session="89abcdef"))
    write_events(root / "own", [scalar_event("/home/ada-lovelace/secret.py", 0, 1.0)])
    mixed = [scalar_event("hunter2", 0, 1.0), *map(raw_chunk_event, split(make_steps(300)))]
    write_events(root / "idiom", mixed)
    captured = root / "own" / "plugins" / "profile" / "2026_11_21"
    captured.mkdir(parents=True)
    said = b"".join(content(3, f"{host}: dropped") + content(4, host) for host in HOSTS)
    for host in HOSTS:
        (captured / f"{host}.xplane.pb").write_bytes(said + steps_of(2, []))
        (captured / f"{host}.op_stats_v2.pb").write_bytes(host.encode())
    (captured / "unfinished.xplane.pb").write_bytes(b"")
    return root


def report_of(logdir: Path, capsys: pytest.CaptureFixture[str]) -> object:
    capsys.readouterr()
    assert main(["report", str(logdir), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def unpacked(target: Path) -> Path:
    copy = target.parent / "copy"
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        archive.extractall(copy)
    return copy


def test_the_copy_gives_the_same_report(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.zip"
    assert main(["share", str(logs), "-o", str(target)]) == 0
    assert report_of(unpacked(target), capsys) == report_of(logs, capsys)


def test_tensorboard_reads_the_copy(logs: Path, tmp_path: Path) -> None:
    from tb_slowdown_plugin.reader.provider import open_logdir
    from tb_slowdown_plugin.reader.run_store import RunStore

    target = tmp_path / "run.zip"
    assert main(["share", str(logs), "-o", str(target)]) == 0
    catalogue = RunStore(open_logdir(str(unpacked(target))))
    assert sorted(catalogue.listing().runs) == ["idiom", "own"]
    assert len(catalogue.run("own").steps) == 600
    assert len(catalogue.run("own").workers) == 1
    assert len(catalogue.run("idiom").steps) == 300


def test_nothing_planted_is_in_the_archive(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "run.zip"
    assert main(["share", str(logs), "-o", str(target)]) == 0
    with zipfile.ZipFile(target) as archive:
        files = archive.namelist()
        held = b"".join(archive.read(name) for name in files)
    assert sorted(Path(name).parent.as_posix() for name in files) == [
        "idiom",
        "own/slowdown",
        "own/slowdown/worker-1",
    ]
    for secret in SECRETS:
        assert secret.encode() not in held
        assert secret not in " ".join(files)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("seen by ada-lovelace", "'ada-lovelace', which looks like a user name"),
        ("on enigma-host", "'enigma-host', which looks like a host name"),
        ("from /data/secret.py", "'/data/secret.py', which looks like an absolute path"),
    ],
)
def test_a_record_with_something_private_is_refused_and_nothing_is_left(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str, said: str
) -> None:
    write_chunks(logs / "bad" / "slowdown", split(make_steps(9), events=[traced(reason)]))
    folder = tmp_path / "out"
    folder.mkdir()
    assert main(["share", str(logs), "-o", str(folder / "run.zip")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert "of run 'bad'; nothing was written" in err
    assert list(folder.iterdir()) == []
    allowed = said.split("'")[1]
    arguments = ["share", str(logs), "-o", str(folder / "run.zip"), "--allow", allowed]
    assert main(arguments) == 0


def test_a_run_named_after_the_user_is_refused(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (logs / "own").rename(logs / "ada-lovelace")
    assert main(["share", str(logs), "-o", str(tmp_path / "run.zip")]) == 2
    assert "is in 'ada-lovelace/slowdown'" in capsys.readouterr().err


def test_the_list_says_what_is_in_it(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.zip"
    assert main(["share", str(logs), "-o", str(target)]) == 0
    out = capsys.readouterr().out
    with zipfile.ZipFile(target) as archive:
        for name in archive.namelist():
            assert f"  {name}  " in out
    assert "2 records, 300 steps" in out
    assert "looked for and not found" in out
    assert "capture" not in out


def test_captures_come_only_when_asked_for_and_it_says_what_they_carry(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.zip"
    assert main(["share", str(logs), "-o", str(target), "--with-captures"]) == 0
    assert "2 files of profiler captures, but for host names" in capsys.readouterr().out
    with zipfile.ZipFile(target) as archive:
        inside = {name: archive.read(name) for name in archive.namelist() if "profile" in name}
    place = "own/plugins/profile/2026_11_21"
    assert list(inside) == [f"{place}/host-1.xplane.pb", f"{place}/host-2.xplane.pb"]
    assert set(inside.values()) == {steps_of(2, [])}  # whole, and without what named the hosts


def test_a_record_that_cannot_be_read_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = split(make_steps(400), chunk_rows=100)
    events = [raw_chunk_event(chunk) for chunk in chunks]
    events[1] = raw_chunk_event(chunks[1], payload=b"hunter2")
    write_events(tmp_path / "logs" / "slowdown", events)
    target = tmp_path / "run.zip"
    assert main(["share", str(tmp_path / "logs"), "-o", str(target)]) == 0
    assert "Left out: 1 record that can't be read." in capsys.readouterr().out
    with zipfile.ZipFile(target) as archive:
        assert b"hunter2" not in archive.read(archive.namelist()[0])


def test_the_same_logdir_makes_the_same_archive(logs: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        assert main(["share", str(logs), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "the following arguments are required: LOGDIR, -o/--output; "
             "see 'tbslow share --help'"),
        (["T/nope", "-o", "T/x.zip"],
         "no such directory: 'T/nope'; give the logdir that training wrote to"),
        (["gs://bucket/logs", "-o", "T/x.zip"],
         "'gs://bucket/logs' is not on this machine; copy it here first, then share it"),
        (["T/empty", "-o", "T/x.zip"],
         "'T/empty' has no slowdown data; train with tbslow run --logdir, tbslow.start(...), or "
         "tbslow.keras.SlowdownCallback(...) writing there"),
        (["T/logs", "-o", "T/no/x.zip"],
         "can't write 'T/no/x.zip': No such file or directory; "
         "give a file in a directory that exists"),
        (["T/broken", "-o", "T/x.zip"],
         "'T/broken' has no readable slowdown data: event file slowdown/events.out.tfevents.1 "
         "is no event file (100 bytes unreadable)"),
    ],
)  # fmt: skip
def test_bad_input(
    logs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    expected: str,
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken" / "slowdown").mkdir(parents=True)
    (tmp_path / "broken" / "slowdown" / "events.out.tfevents.1").write_bytes(b"\x01" * 100)
    given = [argument.replace("T/", f"{tmp_path}/") for argument in arguments]
    assert main(["share", *given]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.replace(f"{tmp_path}/", "T/") == f"tbslow: {expected}\n"
    assert not (tmp_path / "x.zip").exists()


def test_help_names_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["share", "--help"])
    out = capsys.readouterr().out
    for word in ("LOGDIR", "--output", "--with-captures", "--allow", "exit status", "host names"):
        assert word in out

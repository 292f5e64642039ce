"""Sizes of real files, counted on a budget."""

import os

import pytest

from tb_slowdown_plugin.catalog.collectors import SIGNALS
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.saving import disk as output_files
from tb_slowdown_plugin.collectors.saving.disk import OutputFiles


@pytest.fixture
def collector(recording):
    collector = OutputFiles()
    collector.start(recording.context)
    return collector


def write(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\0" * size)


def test_files_of_nested_directories_are_counted_once(recording, collector, tmp_path):
    write(tmp_path / "run/slowdown/events", 100)
    write(tmp_path / "run/ckpt/ckpt-1.index", 20)
    write(tmp_path / "elsewhere/model.keras", 3)
    (tmp_path / "run/link").symlink_to(tmp_path / "elsewhere")
    recording.context.watched.update(
        str(tmp_path / name) for name in ("run", "run/ckpt", "elsewhere")
    )
    values = collector.read()
    assert (values["output_bytes"], values["output_files"]) == (123, 3)
    disk = os.statvfs(tmp_path)
    assert 0 <= values["disk_free_bytes"] <= disk.f_blocks * disk.f_frsize
    assert set(values) <= set(SIGNALS)


def test_a_directory_that_a_collector_sees_later_is_counted_from_then_on(
    recording, collector, tmp_path
):
    assert collector.read() == {}
    write(tmp_path / "ckpt-1", 7)
    recording.context.watched.add(str(tmp_path))
    assert collector.read()["output_files"] == 1


def test_a_directory_that_is_not_there_yet_is_empty(recording, collector, tmp_path):
    recording.context.watched.add(str(tmp_path / "later"))
    assert collector.read() == {"output_bytes": 0, "output_files": 0}


@pytest.mark.parametrize(("took_ns", "rests"), [(2_000_000, 500), (500_000, 1_800)])
def test_counting_makes_it_rest_for_500_times_as_long_or_a_second(
    recording, tmp_path, took_ns, rests
):
    now = 0

    def tick():
        nonlocal now
        now += took_ns
        return now

    recording.clock = type(recording.clock)(monotonic_ns=tick)
    recording.__post_init__()
    collector = OutputFiles()
    collector.start(recording.context)
    recording.context.watched.add(str(tmp_path))
    assert collector.read()
    asked = 1
    while not collector.read():
        asked += 1
    assert asked == rests


def test_too_many_files_end_the_counting_with_a_reason(recording, collector, tmp_path, monkeypatch):
    monkeypatch.setattr(output_files, "_MOST_FILES", 2)
    for name in "abc":
        write(tmp_path / name, 1)
    recording.context.watched.add(str(tmp_path))
    with pytest.raises(Unavailable, match="more than 2 files"):
        collector.read()


def test_a_file_in_the_place_of_a_directory_is_the_writers_to_report(
    recording, collector, tmp_path
):
    (tmp_path / "file").write_text("in the way")
    recording.context.watched.add(str(tmp_path / "file" / "run"))
    assert collector.read()["output_files"] == 0

"""Event files of our own: where they are, what is left of a failed write."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2

pytest.importorskip("tensorflow")

from tb_slowdown_plugin.writer.output.event_file import EventFileSink
from tb_slowdown_plugin.writer.output.outbox import OutboxRecord

pytestmark = pytest.mark.tensorflow
RECORDS = [OutboxRecord(b"some bytes", f"slowdown/0a/{n}", n, 1.8e9 + n) for n in range(3)]


def files_in(logdir: Path) -> list[Path]:
    return sorted(path for path in logdir.rglob("*") if path.is_file())


def tags_in(file: Path) -> list[str]:
    events = [event_pb2.Event.FromString(raw) for raw in RawEventFileLoader(str(file)).Load()]
    assert events[0].file_version == "brain.Event:2"
    return [value.tag for event in events for value in event.summary.value]


@pytest.mark.parametrize(("worker", "folder"), [(0, "slowdown"), (3, "slowdown/worker-3")])
def test_a_file_has_the_records_and_no_host_in_its_name(tmp_path, worker, folder) -> None:
    sink = EventFileSink(str(tmp_path), "0a", worker)
    assert files_in(tmp_path) == []
    sink.write(RECORDS[:2])
    sink.write(RECORDS[2:])
    sink.close()
    (file,) = files_in(tmp_path)
    assert file == tmp_path / folder / "events.out.tfevents.1800000000.0a"
    assert tags_in(file) == [record.tag for record in RECORDS]


def test_a_failed_write_leaves_nothing_behind(tmp_path) -> None:
    sink = EventFileSink(str(tmp_path), "0a")
    sink.write(RECORDS[:1])
    (file,) = files_in(tmp_path)
    sound = file.stat().st_size
    sink._file.write(b"half a record")
    sink.close()
    assert file.stat().st_size == sound
    sink.write(RECORDS[1:])
    sink.close()
    assert len(files_in(tmp_path)) == 2
    assert [tag for each in files_in(tmp_path) for tag in tags_in(each)] == [
        record.tag for record in RECORDS
    ]


def test_a_deleted_log_directory_does_not_come_back(tmp_path) -> None:
    sink = EventFileSink(str(tmp_path / "logs"), "0a")
    sink.write(RECORDS[:1])
    (file,) = files_in(tmp_path)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="the log directory was deleted"):
        sink.write(RECORDS[1:])
    sink.close()

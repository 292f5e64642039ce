"""Captures of the real profiler."""

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.saving.profiler_captures import ProfilerCaptures, newest_session
from tb_slowdown_plugin.records.types import Capture

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def collector(recording):
    collector = ProfilerCaptures()
    collector.start(recording.context)
    yield collector
    collector.stop()


def test_a_capture_has_a_start_an_end_and_the_session_that_xprof_shows(
    recording, collector, tmp_path
):
    tf.profiler.experimental.start(str(tmp_path))
    tf.add(1, 1)
    tf.profiler.experimental.stop()
    (session,) = (tmp_path / "plugins/profile").iterdir()
    assert recording.of(Capture) == [Capture("", True), Capture(session.name, False)]
    assert list(recording.stopwatch.take()) == ["profiling"]


def test_the_context_manager_is_seen_once(recording, collector, tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)):
        tf.add(1, 1)
    assert [capture.running for capture in recording.of(Capture)] == [True, False]


def test_a_capture_that_cannot_start_is_none_and_its_error_passes(recording, collector, tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.profiler.experimental.start(str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()
    assert [capture.running for capture in recording.of(Capture)] == [True, False]
    assert recording.stopwatch.depth == 0


def test_tensorflows_functions_are_put_back(recording):
    collector = ProfilerCaptures()
    collector.start(recording.context)
    assert len(hooked_by("captures")) == 2
    collector.stop()
    assert hooked_by("captures") == []


def test_the_newest_session_is_the_last_by_name(tmp_path):
    for name in ("2026_11_21_06_40_12", "2026_11_20_23_59_59"):
        (tmp_path / "plugins/profile" / name).mkdir(parents=True)
    assert newest_session(str(tmp_path)) == "2026_11_21_06_40_12"
    assert newest_session(str(tmp_path / "none")) == ""
    assert newest_session("gs://bucket/logs") == ""

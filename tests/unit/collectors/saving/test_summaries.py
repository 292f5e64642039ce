"""Summaries of a real TensorFlow, and those that Keras writes."""

import sys

import pytest

from tb_slowdown_plugin.collectors.hooks import installed_code
from tb_slowdown_plugin.collectors.saving import summaries as module
from tb_slowdown_plugin.collectors.saving.summaries import Summaries
from tb_slowdown_plugin.records.types import Fact

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2, when it reads a variable to save it.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def test_summaries_are_booked_outside_functions_and_work_inside(recording, tmp_path):
    collector = Summaries()
    collector.start(recording.context)

    @tf.function
    def step(x):
        if x > 0:
            tf.summary.scalar("inside", x, step=1)
        return x

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("loss", 1.0, step=0)
        outside = recording.stopwatch.take()
        step(tf.constant(2.0))
        inside = recording.stopwatch.take()
    collector.stop()
    assert list(outside) == ["summary"]
    assert inside == {}
    tags = {
        value.tag
        for file in tmp_path.glob("*tfevents*")
        for event in tf.compat.v1.train.summary_iterator(str(file))
        for value in event.summary.value
    }
    assert tags == {"loss", "cond/inside"}


def test_a_summary_inside_the_users_summary_phase_is_not_split(recording, tmp_path):
    collector = Summaries()
    collector.start(recording.context)
    recording.stopwatch.open("summary:TensorBoard")
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("loss", 1.0, step=0)
    recording.stopwatch.close()
    collector.stop()
    assert list(recording.stopwatch.take()) == ["summary:TensorBoard"]


@pytest.fixture
def summaries(recording, tmp_path, monkeypatch, root):
    monkeypatch.chdir(root)
    collector = Summaries()
    collector.start(recording.context)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        yield collector
    collector.stop()


HERE = "tests/unit/collectors/saving/test_summaries.py"


def called(recording):
    return [(fact.subject, fact.numbers["calls"]) for fact in recording.of(Fact)]


def test_the_line_of_a_long_summary_is_told(recording, summaries, monkeypatch):
    monkeypatch.setattr(module, "_LONG_NS", 0)
    for step in range(3):
        line = sys._getframe().f_lineno + 1
        tf.summary.scalar("loss", 1.0, step=step)
    place = f"test_the_line_of_a_long_summary_is_told ({HERE}:{line})"
    assert called(recording) == [(f"summary|tf.summary.scalar|{place}", n) for n in (1.0, 2.0)]
    booked = recording.stopwatch.take()["summary"]
    assert recording.of(Fact)[-1].numbers["seconds"] <= booked / 1e9


def test_of_short_summaries_one_in_17_stands_for_all(recording, summaries, monkeypatch):
    monkeypatch.setattr(module, "_LONG_NS", 1 << 62)
    for step in range(20):
        line = sys._getframe().f_lineno + 1
        tf.summary.scalar("loss", 1.0, step=step)
    place = f"test_of_short_summaries_one_in_17_stands_for_all ({HERE}:{line})"
    assert called(recording) == [(f"summary|tf.summary.scalar|{place}", 17.0)]


def test_summaries_that_keras_writes_have_no_line_of_the_users(recording, summaries, monkeypatch):
    monkeypatch.setattr(module, "_LONG_NS", 0)
    monkeypatch.setattr(installed_code, "is_installed", lambda _: True)
    tf.summary.scalar("loss", 1.0, step=0)
    assert called(recording) == []
    assert list(recording.stopwatch.take()) == ["summary"]

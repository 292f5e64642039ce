"""Which recorder a call writes to: the monitor's own, else that of the `tf.summary` writer."""

from __future__ import annotations

import sys

import pytest

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import current_recorder, monitor
from tb_slowdown_plugin.writer.current_recorder import (
    recorder_for,
    recorder_for_data,
    recorder_for_step,
)
from tb_slowdown_plugin.writer.output.outbox import MemorySink
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder


@pytest.fixture(autouse=True)
def no_writer(monkeypatch):
    monkeypatch.setattr(current_recorder, "_find_idiom_recorder", lambda: None)


@pytest.fixture
def install():
    installed = []

    def of(*, explicit):
        watching = monitor.Monitor(WriterSession(Recorder(), MemorySink(), "0badcafe"))
        monitor.install(watching, explicit=explicit)
        installed.append(watching)
        return watching

    yield of
    for each in installed:
        each.stop()


def test_with_neither_a_step_and_a_call_are_refused_and_data_passes():
    with pytest.raises(UsageError, match=r"^tbslow.summary.step\(\) has nowhere to write to"):
        recorder_for_step()
    with pytest.raises(UsageError, match=r"^tbslow.summary.epoch\(\) has nowhere to write to"):
        recorder_for("epoch")
    assert recorder_for_data() is None


def test_a_monitor_that_was_started_takes_all(install):
    own = install(explicit=True).recorder
    assert (recorder_for_step(), recorder_for_data(), recorder_for("epoch")) == (own, own, own)


def test_the_monitor_of_a_fit_takes_no_steps_by_hand(install):
    own = install(explicit=False).recorder
    assert (recorder_for_data(), recorder_for("epoch")) == (own, own)
    with pytest.raises(UsageError):
        recorder_for_step()


def test_the_writer_of_the_thread_goes_before_the_monitor_of_a_fit(install, monkeypatch):
    install(explicit=False)
    of_writer = Recorder()
    monkeypatch.setattr(current_recorder, "_find_idiom_recorder", lambda: of_writer)
    assert (recorder_for_step(), recorder_for_data()) == (of_writer, of_writer)


def test_without_tensorflow_there_is_no_writer_to_look_for(monkeypatch):
    monkeypatch.setattr(current_recorder, "_find_idiom_recorder", None)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    assert recorder_for_data() is None
    assert current_recorder._find_idiom_recorder is None

"""Checkpoints and models that are saved, of a real TensorFlow and Keras."""

import threading
from pathlib import Path

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.saving.checkpoints import Checkpoints, saved_bytes
from tb_slowdown_plugin.records.types import Fact

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2, when it reads a variable to save it.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.fixture
def checkpoints(recording):
    collector = Checkpoints()
    collector.start(recording.context)
    yield collector
    collector.stop()


def saves(recording):
    lines = ("checkpoint_from", "optimizer_at")
    return [fact for fact in recording.of(Fact) if fact.name not in lines]


def facts(recording):
    return [(fact.name, fact.subject) for fact in saves(recording)]


def model():
    made = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64)])
    made.compile("adam", "mse")
    return made


def test_a_checkpoint_is_booked_and_its_files_are_counted(recording, checkpoints, tmp_path):
    variable = tf.Variable(tf.zeros([1000]))
    prefix = tf.train.Checkpoint(v=variable).save(str(tmp_path / "ckpt"))
    booked = recording.stopwatch.take()
    assert list(booked) == ["checkpoint:tf.train.Checkpoint"]
    (fact,) = saves(recording)
    assert (fact.name, fact.subject) == ("checkpoint", "tf.train.Checkpoint")
    assert fact.numbers["bytes"] == saved_bytes(prefix) >= 4000
    assert recording.context.watched == {str(tmp_path)}
    assert 0 < fact.numbers["seconds"] <= booked["checkpoint:tf.train.Checkpoint"] / 1e9


def test_a_manager_is_named_and_counts_once(recording, checkpoints, tmp_path):
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path), max_to_keep=1
    )
    manager.save()
    manager.save()
    assert list(recording.stopwatch.take()) == ["checkpoint:CheckpointManager"]
    assert facts(recording) == [("checkpoint", "CheckpointManager")] * 2
    assert all("keeps" in fact.numbers for fact in saves(recording))


def test_keras_files_are_booked_to_the_method(recording, checkpoints, tmp_path):
    trained = model()
    trained.save(tmp_path / "m.keras")
    trained.save_weights(str(tmp_path / "m.weights.h5"))
    assert set(recording.stopwatch.take()) == {
        "checkpoint:model.save",
        "checkpoint:model.save_weights",
    }
    saved, weights = saves(recording)
    assert saved.numbers["bytes"] == (tmp_path / "m.keras").stat().st_size
    assert weights.numbers["bytes"] == (tmp_path / "m.weights.h5").stat().st_size


def test_inside_a_callback_that_saves_the_callback_is_named(recording, checkpoints, tmp_path):
    recording.stopwatch.open("checkpoint:ModelCheckpoint")
    model().save(tmp_path / "m.keras")
    recording.stopwatch.close()
    assert list(recording.stopwatch.take()) == ["checkpoint:ModelCheckpoint"]
    assert facts(recording) == [("checkpoint", "ModelCheckpoint")]


def test_in_the_users_phase_the_saver_is_still_named_in_the_event(recording, checkpoints, tmp_path):
    recording.stopwatch.open("checkpoint")
    tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "ckpt"))
    recording.stopwatch.close()
    assert list(recording.stopwatch.take()) == ["checkpoint"]
    assert facts(recording) == [("checkpoint", "tf.train.Checkpoint")]


def test_a_line_that_saves_is_recorded_ever_more_seldom_and_whether_a_callback_is_around(
    recording, checkpoints, tmp_path
):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    for around in ("phase:x", "callback:Saver"):
        recording.stopwatch.open(around)
        for _ in range(3):
            checkpoint.write(str(tmp_path / "ckpt"))
        recording.stopwatch.close()
    told = [fact for fact in recording.of(Fact) if fact.name == "checkpoint_from"]
    by = "by:tf.train.Checkpoint"
    assert [(fact.numbers[by], "in_callback" in fact.numbers) for fact in told] == [
        (1.0, False),
        (2.0, False),
        (1.0, True),
        (2.0, True),
    ]
    assert 0 < told[0].numbers["seconds"] < told[1].numbers["seconds"] < 10
    (place,) = {fact.subject for fact in told}
    assert place.rpartition("/")[2].startswith(f"{Path(__file__).name}:")


def test_an_error_while_saving_passes_and_closes_the_account(recording, checkpoints, tmp_path):
    with pytest.raises(ValueError, match=r"\.keras"):
        model().save(tmp_path / "m.unknown")
    assert recording.stopwatch.depth == 0
    assert recording.of(Fact) == []


def test_the_savers_are_put_back(recording):
    collector = Checkpoints()
    collector.start(recording.context)
    assert len(hooked_by("checkpoints")) == 7
    collector.stop()
    assert hooked_by("checkpoints") == []


def test_a_save_in_another_thread_is_a_fact_and_no_time_of_the_step(
    recording, checkpoints, tmp_path
):
    variable = tf.Variable(1.0)
    saver = tf.train.Checkpoint(v=variable)
    thread = threading.Thread(target=saver.save, args=(str(tmp_path / "ckpt"),))
    thread.start()
    thread.join()
    assert recording.stopwatch.take() == {}
    assert facts(recording) == [("checkpoint", "tf.train.Checkpoint")]


@pytest.mark.parametrize("name", ["run**3", "run[1]"])
def test_a_name_is_no_pattern(tmp_path, name):
    (tmp_path / f"{name}.index").write_bytes(bytes(10))
    (tmp_path / f"{name}.data-00000-of-00001").write_bytes(bytes(20))
    (tmp_path / "run1.index").write_bytes(bytes(1000))
    assert saved_bytes(str(tmp_path / name)) == 30

"""Checkpoints, summaries and optimizers of a real TensorFlow and Keras."""

import gc
import sys
import threading
from pathlib import Path

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks import installed_code
from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
from tb_slowdown_plugin.collectors.saving import saves as module
from tb_slowdown_plugin.collectors.saving.saves import (
    Checkpoints,
    Summaries,
    saved_bytes,
)
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


def test_a_line_that_saves_is_recorded_once_and_whether_a_callback_is_around(
    recording, checkpoints, tmp_path
):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    for around in ("phase:x", "callback:Saver"):
        recording.stopwatch.open(around)
        for _ in range(3):
            checkpoint.write(str(tmp_path / "ckpt"))
        recording.stopwatch.close()
    told = [fact for fact in recording.of(Fact) if fact.name == "checkpoint_from"]
    assert [fact.numbers for fact in told] == [{}, {"in_callback": 1.0}]
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


HERE = "tests/unit/collectors/saving/test_saves.py"


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


@pytest.fixture
def optimizers(recording):
    collector = Optimizers()
    collector.start(recording.context)
    yield collector
    collector.stop()


def train(made):
    variable = tf.Variable(tf.zeros([100]))
    made.apply_gradients([(tf.ones([100]), variable)])
    return variable


def test_an_optimizer_made_again_at_the_same_line_costs_seconds(recording, optimizers):
    for _ in range(3):
        train(keras.optimizers.Adam())
    booked = recording.stopwatch.take()
    made = saves(recording)
    assert list(booked) == ["optimizer_creation"]
    # The second and the third: made and built.
    assert facts(recording) == [("optimizer_created", "Adam")] * 4
    total = sum(fact.numbers["seconds"] for fact in made)
    assert booked["optimizer_creation"] / 1e9 == pytest.approx(total, rel=0.2)


def test_an_optimizer_that_keras_makes_to_look_at_is_none(recording, optimizers):
    """`load_weights` makes one of the base class, from the user's line."""
    for _ in range(3):
        keras.optimizers.Optimizer(1.0)
    assert dict(recording.stopwatch.take()) == {}
    assert recording.of(Fact) == []


def test_optimizers_made_by_a_save_belong_to_the_save(recording, optimizers):
    watch = recording.stopwatch
    for _ in range(4):
        watch.open("checkpoint:ModelCheckpoint")
        train(keras.optimizers.Adam())
        watch.close()
    assert list(watch.take()) == ["checkpoint:ModelCheckpoint"]
    assert facts(recording) == []


def test_two_optimizers_of_one_model_are_not_made_again(recording, optimizers):
    train(keras.optimizers.Adam())
    train(keras.optimizers.Adam())
    assert recording.stopwatch.take() == {}
    assert facts(recording) == []


def test_before_training_any_number_may_be_made(recording, optimizers):
    recording.stopwatch.thread = 0
    made = [keras.optimizers.Adam() for _ in range(3)]
    recording.stopwatch.claim()
    for each in made:
        train(each)
    assert recording.stopwatch.take() == {}


def test_compile_in_a_loop_is_seen(recording, optimizers):
    trained = model()
    for _ in range(3):
        trained.compile("sgd", "mse")
    assert facts(recording) == [("optimizer_created", "SGD")] * 2


def test_compiling_a_model_that_trains_goes_where_its_new_trace_goes(recording, optimizers):
    trained = model()
    trained.compile("sgd", "mse")
    assert recording.stopwatch.take() == {}, "it has not trained yet: nothing is thrown away"
    trained.fit(tf.ones((4, 8)), tf.ones((4, 64)), verbose=0)
    recording.stopwatch.take()
    trained.compile(keras.optimizers.SGD(), "mse")
    assert 0 < recording.stopwatch.take()["tracing:again"] < 10e9
    trained.compile(keras.optimizers.SGD(), "mse")
    assert recording.stopwatch.take() == {}, "nor since"


def test_an_error_of_compile_passes_and_closes_the_account(recording, optimizers):
    trained = model()
    trained.fit(tf.ones((4, 8)), tf.ones((4, 64)), verbose=0)
    with pytest.raises(ValueError, match="no such optimizer"):
        trained.compile("no such optimizer")
    assert recording.stopwatch.depth == 0


def test_the_state_of_all_living_optimizers_is_sampled(optimizers):
    made = keras.optimizers.Adam()
    unbuilt = optimizers.read()["optimizer_variables"]
    train(made)
    built = optimizers.read()
    # Two slots of 100 float32 each.
    assert built["optimizer_variables"] - unbuilt >= 2
    assert built["optimizer_bytes"] >= 800
    del made
    gc.collect()
    assert optimizers.read() == {}


def test_keras_classes_are_put_back(recording):
    collector = Optimizers()
    collector.start(recording.context)
    keras.optimizers.Adam()
    assert "keras.src.optimizers.adam.Adam.build" in hooked_by("optimizers")
    collector.stop()
    assert hooked_by("optimizers") == []


def test_without_keras_there_is_a_reason(recording, monkeypatch):
    monkeypatch.delitem(sys.modules, "keras")
    with pytest.raises(Unavailable, match="Keras was not imported"):
        Optimizers().start(recording.context)


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

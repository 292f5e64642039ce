"""`model.fit` with the callback beside errors, interrupts and other monitors."""

from __future__ import annotations

import pytest
from integration.keras_training import BATCHES, DELAY, MARKS, Slow, model, pairs, read

keras = pytest.importorskip("keras")

import tbslow  # noqa: E402
from tb_slowdown_plugin.errors import UsageError  # noqa: E402
from tb_slowdown_plugin.reader.logdir import read_runs  # noqa: E402
from tb_slowdown_plugin.writer.monitor import active  # noqa: E402

pytestmark = MARKS


def test_an_exception_of_a_callback_arrives_unchanged_and_the_next_fit_works(tmp_path):
    class Broken(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise KeyError("mine")

    trained = model()
    callback = tbslow.keras.SlowdownCallback(tmp_path)
    broken = Broken()
    with pytest.raises(KeyError, match="mine"):
        trained.fit(pairs(), verbose=0, callbacks=[callback, broken])
    trained.fit(pairs(), verbose=0, callbacks=[callback])
    assert vars(broken).keys() == vars(keras.callbacks.Callback()).keys()
    assert len(read(tmp_path).steps) == 2 + BATCHES


def interrupted_fit(logdir, **others):
    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 3:
                raise KeyboardInterrupt

    callback = tbslow.keras.SlowdownCallback(logdir)
    with pytest.raises(KeyboardInterrupt):
        model().fit(pairs(), verbose=0, callbacks=[callback, Interrupts()], **others)
    return callback


def test_after_an_interrupted_fit_another_monitor_can_be_started(tmp_path):
    callback = interrupted_fit(tmp_path / "one")
    with tbslow.start(tmp_path / "two"), tbslow.summary.step():
        pass
    assert callback.monitor.stopped
    runs = read_runs(str(tmp_path), warn=pytest.fail)
    assert sorted((run.name, len(run.steps)) for run in runs) == [("one", 3), ("two", 1)]


def test_after_an_interrupted_fit_a_step_and_the_next_fit_count_on(tmp_path):
    callback = interrupted_fit(tmp_path)
    with tbslow.summary.step():
        pass
    sibling = Slow()
    model().fit(pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path), sibling])
    assert callback.monitor.recorder.stopwatch.opened == []
    assert set(vars(sibling)) <= {"_model", "params", "validation_data"}
    run = read(tmp_path)
    assert len(run.steps) == 3 + 1 + BATCHES
    assert run.steps.accounts["callback:Slow"].sum() >= BATCHES * DELAY / 2


def test_an_error_in_validation_leaves_no_account_open(tmp_path):
    class Broken(keras.callbacks.Callback):
        def on_test_batch_begin(self, batch, logs=None):
            raise KeyError("mine")

    trained, callback = model(), tbslow.keras.SlowdownCallback(tmp_path)
    fits = {"validation_data": pairs(), "verbose": 0}
    with pytest.raises(KeyError, match="mine"):
        trained.fit(pairs(), callbacks=[callback, Broken()], **fits)
    assert callback.monitor.recorder.stopwatch.innermost == "validation"
    trained.fit(pairs(), verbose=0, callbacks=[callback])
    run = read(tmp_path)
    assert len(run.steps) == 2 * BATCHES
    assert not run.steps.accounts["validation"][BATCHES + 1 :].any(), "what it took before is told"


def test_a_monitor_can_not_be_started_inside_a_fit(tmp_path):
    class Starts(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            tbslow.start(tmp_path / "two")

    with pytest.raises(UsageError, match="a monitor is already running"):
        model().fit(
            pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path), Starts()]
        )
    tbslow.stop()


def test_nothing_of_ours_stays_on_the_siblings(tmp_path):
    sibling = Slow()
    own = set(vars(sibling))
    model().fit(
        pairs(batches=1),
        verbose=0,
        callbacks=[tbslow.keras.SlowdownCallback(tmp_path), sibling],
    )
    assert set(vars(sibling)) - own <= {"_model", "params"}


def test_keras_may_still_run_batch_methods_beside_the_training(tmp_path):
    """The callback has no batch method of its own: with one, Keras would wait for each loss."""
    callback = tbslow.keras.SlowdownCallback(tmp_path)
    listed = keras.callbacks.CallbackList([callback], model=model())
    assert listed._async_train == keras.callbacks.CallbackList([], model=model())._async_train


def test_a_monitor_of_the_user_is_used_and_left_running(tmp_path):
    with tbslow.start(tmp_path / "mine") as monitor:
        model().fit(
            pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path / "other")]
        )
        assert monitor.recorder.rows == BATCHES
        assert not monitor.stopped
    assert not (tmp_path / "other").exists()


def test_another_logdir_is_another_run(tmp_path):
    for name in ("one", "two"):
        model().fit(pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path / name)])
    tbslow.stop()
    runs = read_runs(str(tmp_path), warn=pytest.fail)
    assert sorted((run.name, len(run.steps)) for run in runs) == [("one", 8), ("two", 8)]


def test_after_fit_a_monitor_can_be_started(tmp_path):
    model().fit(pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path / "one")])
    with tbslow.start(tmp_path / "two") as monitor:
        assert active() is monitor


def test_a_call_by_hand_without_a_callback_list_is_told_and_harmless(tmp_path, caplog):
    callback = tbslow.keras.SlowdownCallback(tmp_path)
    callback.set_model(model())
    callback.on_train_begin()
    assert "called by no keras.callbacks.CallbackList" in caplog.text

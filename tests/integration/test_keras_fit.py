"""`model.fit` with the callback, on real Keras: what is recorded."""

from __future__ import annotations

import time

import numpy as np
import pytest
from cores import needs_two_cores
from integration.keras_training import BATCHES, DELAY, MARKS, Slow, as_pair, model, pairs, read

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import tbslow  # noqa: E402
from tb_slowdown_plugin.records.types import Epoch, Trace  # noqa: E402

pytestmark = MARKS


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Three epochs with all that can happen in them, and a second fit."""
    logdir = tmp_path_factory.mktemp("fit")
    trained = model()
    callback = tbslow.keras.SlowdownCallback(logdir)
    saver = keras.callbacks.ModelCheckpoint(str(logdir / "best.keras"))
    board = keras.callbacks.TensorBoard(str(logdir / "board"))
    trained.fit(
        pairs(delayed=True),
        epochs=3,
        verbose=0,
        validation_data=pairs(),
        callbacks=[saver, callback, Slow(), board],
    )
    trained.fit(pairs(), epochs=1, verbose=0, callbacks=[callback])
    trained.evaluate(pairs(), verbose=0, callbacks=[callback])
    trained.predict(pairs(), verbose=0, callbacks=[callback])
    return read(logdir)


def test_each_batch_is_a_step_and_both_fits_are_one_run(fitted):
    assert fitted.steps.number.tolist() == list(range(4 * BATCHES))
    assert fitted.steps.kinds == ("train",)
    assert len(fitted.sessions) == 1


def test_each_epoch_is_an_event_at_its_first_step(fitted):
    epochs = [(event.row, event.what.number) for event in fitted.events if is_a(event, Epoch)]
    assert epochs == [(0, 0), (BATCHES, 1), (2 * BATCHES, 2), (3 * BATCHES, 3)]


def is_a(event, kind):
    return isinstance(event.what, kind)


def test_siblings_validation_checkpoints_and_summaries_have_accounts(fitted):
    accounts = fitted.steps.accounts
    first_of_epoch = np.arange(1, 4) * BATCHES
    for name in ("validation", "checkpoint:ModelCheckpoint", "summary:TensorBoard"):
        assert (accounts[name][first_of_epoch] > 0).all(), name
    inner = np.delete(np.arange(4 * BATCHES), np.r_[0, first_of_epoch])
    assert (accounts["validation"][inner] == 0).all()
    slow_batches = accounts["callback:Slow"][1:BATCHES]
    assert (slow_batches >= 0.4 * DELAY).all()
    assert (accounts["callback:Slow"][first_of_epoch] >= 2 * DELAY).all()


@pytest.mark.timed
def test_what_tensorboards_callback_takes_after_each_batch_is_booked_to_it(tmp_path):
    """It calls `tf.summary` for each metric, also where `update_freq="epoch"` writes nothing."""
    took = []

    class Board(keras.callbacks.TensorBoard):
        def on_train_batch_end(self, batch, logs=None):
            began = time.perf_counter()
            super().on_train_batch_end(batch, logs)
            took.append(time.perf_counter() - began)

    callbacks = [
        tbslow.keras.SlowdownCallback(tmp_path / "run"),
        Board(str(tmp_path / "board"), write_graph=False, profile_batch=0),
    ]
    model().fit(pairs(batches=200), verbose=0, callbacks=callbacks)
    run = read(tmp_path / "run")
    inside = slice(1, -1)  # the first batch makes a writer, the last one ends the epoch
    booked = run.steps.accounts["summary:Board"][inside]
    assert float(np.median(took)) > 20e-6
    # In all: where steps are short, what two of them took may be told together.
    assert float(np.sum(booked)) == pytest.approx(float(np.sum(took[inside])), rel=0.1)


@pytest.mark.timed
def test_input_wait_is_measured_inside_the_graph(fitted):
    wait = fitted.steps.accounts["input_wait"]
    inside = fitted.steps.inside_seconds
    assert (wait <= fitted.steps.period_seconds + 1e-6).all()
    # Slow.on_train_batch_end hides half of each delay. Where steps are short, the waits of some
    # are told together, to the step after them.
    assert wait[BATCHES : 3 * BATCHES].sum() >= 0.1 * 2 * BATCHES * DELAY
    assert np.median(wait[3 * BATCHES :]) < 0.1 * DELAY
    assert (inside <= fitted.steps.period_seconds + 1e-6).all()


def test_no_second_is_in_two_accounts(fitted):
    booked = sum(fitted.steps.accounts.values())
    assert (booked <= fitted.steps.period_seconds + 1e-5).all()


def test_epoch_boundaries_are_explained(fitted):
    """Between two epochs nothing of note happens outside the accounts."""
    steps = fitted.steps
    rest = steps.period_seconds - sum(steps.accounts.values())
    boundaries = np.array([1, 2]) * BATCHES
    assert rest[boundaries].sum() < 0.2 * steps.period_seconds[boundaries].sum()


def test_the_end_of_each_pass_over_the_data_is_told_at_the_next_epoch(fitted):
    ends = fitted.steps.accounts["input_wait:end of pass"]
    assert np.flatnonzero(ends).tolist() == [BATCHES, 2 * BATCHES, 3 * BATCHES]


def test_the_train_step_is_traced_once_and_explained_as_keras(fitted):
    traces = [event.what for event in fitted.events if is_a(event, Trace)]
    own = [trace for trace in traces if trace.function == "Keras train step"]
    assert {trace.cause for trace in own} == {"first"}, own
    assert len([trace for trace in own if trace.depth == 0]) == 1


@pytest.mark.parametrize("batches", [8, 10], ids=["whole", "with a rest"])
def test_executions_of_several_batches_are_steps_with_their_batches_as_items(tmp_path, batches):
    trained = model(steps_per_execution=4)
    data = pairs(delayed=True, batches=batches)
    data = data.apply(tf.data.experimental.assert_cardinality(batches))
    trained.fit(data, epochs=2, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path)])
    run = read(tmp_path)
    items = [4, 4] if batches == 8 else [4, 4, 2]
    assert run.steps.items.tolist() == items * 2
    assert run.steps.number.tolist() == [4 * n for n in range(2 * len(items))]
    # The second epoch; a wait may be told to the step after the one that had it.
    wait = run.steps.accounts["input_wait"][len(items) :].sum()
    assert DELAY <= wait <= run.steps.period_seconds[len(items) :].sum()


@needs_two_cores
def test_fetches_beside_the_computation_of_an_execution_are_no_wait(tmp_path):
    """4 batches in 4 x 30 ms of work: only the first batch is waited for, if all runs as it can."""
    works: list[tuple[float, float]] = []

    class Work(keras.layers.Layer):
        def call(self, x):
            worked = tf.numpy_function(self.work, [x], tf.float32)
            return x + tf.stop_gradient(tf.ensure_shape(worked, x.shape))

        def work(self, x):
            began = time.perf_counter()
            time.sleep(3 * DELAY)
            works.append((began, time.perf_counter()))
            return x * 0

    trained = keras.Sequential([keras.Input((8,)), Work(), keras.layers.Dense(1)])
    trained.compile("sgd", "mse", steps_per_execution=4)

    def fetch(number):
        time.sleep(DELAY)
        return number

    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.autotune.enabled = False
    slow = tf.data.Dataset.range(BATCHES).map(lambda i: tf.numpy_function(fetch, [i], tf.int64))
    trained.fit(
        slow.map(as_pair).with_options(options),
        epochs=3,
        verbose=0,
        callbacks=[tbslow.keras.SlowdownCallback(tmp_path)],
    )
    run = read(tmp_path)
    second_executions = slice(3, None, 2)
    wait = run.steps.accounts["input_wait"][second_executions]
    began, ended = np.reshape(works[-4 * len(run.steps) :], (-1, 4, 2)).transpose(2, 0, 1)
    between = np.diff(ended[:, -1]) - np.sum(ended - began, 1)[1:]
    assert (wait >= DELAY * 0.5).all()
    assert (wait < between[2::2] + 0.5 * DELAY).all()  # nothing of the work is a wait


def test_a_dataset_of_unknown_length_counts_no_step_too_many(tmp_path):
    data = pairs().filter(lambda x, y: tf.reduce_all(x > 0))
    model().fit(data, epochs=2, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path)])
    run = read(tmp_path)
    assert len(run.steps) == 2 * BATCHES


def test_a_generator_and_eager_steps_are_recorded_too(tmp_path):
    class Data(keras.utils.PyDataset):
        def __len__(self):
            return BATCHES

        def __getitem__(self, index):
            time.sleep(DELAY)
            return np.ones((4, 8)), np.ones((4, 1))

    trained = model(run_eagerly=True)
    trained.fit(Data(), epochs=1, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path)])
    run = read(tmp_path)
    assert len(run.steps) == BATCHES
    # Keras prepares the batches in a thread; at least the first is waited for.
    assert run.steps.accounts["input_wait"].sum() >= DELAY


def test_steps_of_a_resumed_model_go_on_where_its_optimizer_is(tmp_path):
    trained = model()
    trained.optimizer.iterations.assign(100)
    trained.fit(pairs(), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(tmp_path)])
    assert read(tmp_path).steps.number.tolist() == list(range(100, 100 + BATCHES))


def test_what_happens_between_two_fits_is_in_the_next_ones_first_step(tmp_path):
    trained = model()
    callback = tbslow.keras.SlowdownCallback(tmp_path)
    trained.fit(pairs(), verbose=0, callbacks=[callback])
    time.sleep(20 * DELAY)
    trained.fit(pairs(), verbose=0, callbacks=[callback])
    accounts = read(tmp_path).steps.accounts
    between = accounts["phase:between calls of fit"]
    # The sum of what graphs wait is read seldom: a wait of the first fit may stand here.
    assert between[BATCHES] + accounts["input_wait"][BATCHES] >= 20 * DELAY
    assert between[BATCHES] >= 18 * DELAY
    assert between.sum() == between[BATCHES]

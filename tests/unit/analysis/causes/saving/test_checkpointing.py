"""Sentences about saving, collecting and calling back, with all their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP, at

from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog.events import CALLBACK_MADE_AT
from tb_slowdown_plugin.records.types import Epoch, Fact, GcPause, Trace


def test_saves_at_regular_steps(make_run, find, judge):
    # The callback is called in each step, and saves in each twentieth.
    saving = np.full(SIZE, 0.00001)
    saving[19::20] = 0.140
    run = make_run(STEP + saving, accounts={"checkpoint:ModelCheckpoint": saving})
    (cause,) = judge(run, find("checkpoint:ModelCheckpoint", "periodic", saving)).report.causes

    assert cause.cause == "checkpointing"
    assert cause.summary == (
        "30 checkpoint saves, 140 ms each (median), every 20 steps. Training blocks during a "
        "save. Time per save is stable."
    )
    assert cause.evidence == (
        "30 saves by `ModelCheckpoint` took 4.20 s (140 ms each). All of it counts as lost "
        "(41.2% of the run).",
        "20 steps (200 ms of training) separate two saves.",
    )
    assert cause.advice[0].text.startswith(
        "Save less often, every 200 batches for example (every 2 s): 140 ms then are 7.0% of the "
        "time."
    ), "every 2,000 batches would save never in a run of 600"
    assert "save_freq=20)" in cause.advice[0].code
    assert "save_freq=200)" in cause.advice[0].code
    assert cause.advice[0].price.endswith("up to 2 s.")


def test_the_line_of_saves_is_not_that_of_the_model_that_is_saved_at_the_end(make_run, find, judge):
    saving = np.where(np.arange(SIZE) % 20 == 19, 0.140, 0.0)
    events = [
        (0, Fact(CALLBACK_MADE_AT, "checkpoint:ModelCheckpoint train.py:155")),
        (SIZE, Fact("checkpoint_from", "train.py:159")),
    ]
    run = make_run(STEP + saving, accounts={"checkpoint:ModelCheckpoint": saving}, events=events)
    (cause,) = judge(run, find("checkpoint:ModelCheckpoint", "periodic", saving)).report.causes
    assert (cause.place.file, cause.place.line) == ("train.py", 155)


def test_of_several_lines_that_save_the_one_of_most_seconds_is_the_place(make_run, find, judge):
    saving = np.where(np.arange(SIZE) % 20 == 19, 0.140, 0.0)
    by = "by:tf.train.Checkpoint"
    events = [
        (19, Fact("checkpoint_from", "train.py:40", {"seconds": 0.14, by: 1.0})),
        (299, Fact("checkpoint_from", "train.py:90", {"seconds": 0.2, by: 1.0})),
        (439, Fact("checkpoint_from", "train.py:40", {"seconds": 2.24, by: 16.0})),
        (500, Fact("checkpoint_from", "train.py:95", {"seconds": 9.0, "by:model.save": 1.0})),
    ]
    run = make_run(
        STEP + saving, accounts={"checkpoint:tf.train.Checkpoint": saving}, events=events
    )
    (cause,) = judge(run, find("checkpoint:tf.train.Checkpoint", "periodic", saving)).report.causes
    assert (cause.place.file, cause.place.line) == ("train.py", 40)


def test_two_that_save_are_a_cause_each(make_run, find, judge):
    manager = np.where(np.arange(SIZE) % 20 == 19, 0.140, 0.0)
    whole = np.where(np.arange(SIZE) % 100 == 99, 0.300, 0.0)
    names = "checkpoint:CheckpointManager", "checkpoint:model.save"
    events = [
        (19, Fact("checkpoint_from", "train.py:40", {"seconds": 0.1, "by:CheckpointManager": 1.0})),
        (99, Fact("checkpoint_from", "train.py:50", {"seconds": 0.3, "by:model.save": 1.0})),
    ]
    run = make_run(
        STEP + manager + whole,
        accounts=dict(zip(names, (manager, whole), strict=True)),
        events=events,
    )
    found = [find(n, "periodic", each) for n, each in zip(names, (manager, whole), strict=True)]
    causes = judge(run, *found).report.causes
    assert [(each.subject, each.place.line, round(each.lost_seconds, 2)) for each in causes] == [
        ("checkpointing (CheckpointManager)", 40, 4.2),
        ("checkpointing (model.save)", 50, 1.8),
    ]
    assert causes[1].summary.startswith("6 checkpoint saves, 300 ms each")


@pytest.mark.parametrize(
    ("who", "said", "not_said"),
    [
        ("CheckpointManager", "manager.save(options=options)", "model.save"),
        ("", "manager.save(options=options)", "model.save"),
        ("tf.train.Checkpoint", "ckpt.save(path, options=options)", "model.save"),
        ("model.save", '        model.save("model.keras")', "manager"),
        ("model.save_weights", '        model.save_weights("model.weights.h5")', "manager"),
        ("tf.saved_model", "        tf.saved_model.save(model, path)", "manager"),
        ("tf.compat.v1.train.Saver", "        saver.save(session, path)", "manager"),
        ("BackupAndRestore", 'BackupAndRestore("backup", save_freq=', "manager"),
    ],
)
def test_the_advice_on_saving_fits_who_saves(make_run, find, judge, who, said, not_said):
    account = f"checkpoint:{who}" if who else "checkpoint"
    saving = np.zeros(SIZE)
    saving[19::20] = 0.140
    run = make_run(STEP + saving, accounts={account: saving})
    (cause,) = judge(run, find(account, "periodic", saving)).report.causes
    code = "\n".join(advice.code for advice in cause.advice)
    assert said in code
    assert not_said not in code


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["train.py:46"], Place("train.py", 46, "ModelCheckpoint")),
        (["train.py:46", "train.py:48"], None),
    ],
)
def test_a_callback_of_keras_has_the_line_that_makes_it(make_run, find, judge, lines, place):
    account = "checkpoint:ModelCheckpoint"
    saving = np.zeros(SIZE)
    saving[19::20] = 0.140
    made = [(0, Fact(CALLBACK_MADE_AT, f"{account} {line}", {})) for line in lines]
    run = make_run(STEP + saving, accounts={account: saving}, events=made)
    (cause,) = judge(run, find(account, "periodic", saving)).report.causes
    assert cause.place == place


def test_saves_at_the_end_of_epochs_are_made_less_often_in_batches(make_run, find, judge):
    """`save_freq` is "epoch" unless told otherwise."""
    saving = np.zeros(SIZE)
    saving[99::100] = 0.140
    epochs = [(row, Epoch(row // 100)) for row in range(0, SIZE, 100)]
    run = make_run(STEP + saving, accounts={"checkpoint:ModelCheckpoint": saving}, events=epochs)
    found = find("checkpoint:ModelCheckpoint", "periodic", saving)
    (cause,) = judge(run, found).report.causes
    assert cause.advice[0].code == (
        "- saver = tf.keras.callbacks.ModelCheckpoint(path)\n"
        "+ saver = tf.keras.callbacks.ModelCheckpoint(path, save_freq=200)"
    )


@pytest.mark.contradictory_records
def test_saves_that_fill_the_run_leave_no_time_of_other_work(make_run, find, judge):
    """A damaged record may hold saves that take longer than their steps."""
    saving = np.zeros(SIZE)
    saving[19::20] = 0.140
    run = make_run(np.full(SIZE, 0.005), accounts={"checkpoint": saving})
    (cause,) = judge(run, find("checkpoint", "periodic", np.minimum(saving, 0.005))).report.causes
    assert "20 steps separate two saves." in cause.evidence


def test_saves_that_grow(make_run, find, judge):
    rows = np.arange(9, SIZE, 10)
    each = np.linspace(0.1, 0.3, len(rows))
    saving = at(rows, each)
    run = make_run(STEP + saving, accounts={"checkpoint": saving})
    (cause,) = judge(run, find("checkpoint", "drift", at(rows, each - 0.1))).report.causes

    assert cause.summary.endswith("Late saves take 2.2 times as long as early ones.")
    assert cause.evidence[-1] == (
        "Time per save grew from 124 ms (around step 79) to 276 ms (around step 529)."
    )
    assert "max_to_keep=3" in cause.advice[0].code


def test_full_collections_at_regular_steps_point_to_a_call(make_run, find, judge):
    rows = np.arange(39, SIZE, 40)
    each = 0.2 + 0.02 * np.arange(len(rows))
    pauses = at(rows, each)
    run = make_run(
        STEP + pauses,
        accounts={"gc": pauses},
        events=[(int(row), GcPause(2, float(s), 120)) for row, s in zip(rows, each, strict=True)],
    )
    (cause,) = judge(run, find("gc", "drift", pauses)).report.causes

    assert cause.cause == "garbage_collection"
    assert cause.summary == (
        "Python runs a full garbage collection every 40 steps. Each one pauses training for "
        "340 ms (median). Late pauses are 2.1 times as long as early ones."
    )
    assert cause.evidence == (
        "Full collections (generation 2) took 5.10 s: 200 ms to 480 ms each, longest at step 599.",
        "They grew from 220 ms to 460 ms: a full collection visits every tracked Python object, "
        "so their number grows.",
        "1,800 objects were freed by all of them together.",
        "The fixed interval points to a `gc.collect()` call in the loop: Python's automatic "
        "collections depend on the number of new objects.",
    )
    assert cause.advice[0].text.startswith("Look for a `gc.collect()` call in the loop")


def test_collections_of_pythons_own(make_run, find, judge):
    rows = np.array([20, 75, 160, 161, 402, 590])
    pauses = at(rows, 0.5)
    events = [(int(row), GcPause(2, 0.5, 0)) for row in rows]
    events += [(5, GcPause(1, 0.002, 3)), (6, GcPause(2, 9.0, 3, elsewhere=True))]
    run = make_run(STEP + pauses, accounts={"gc": pauses + at(5, 0.002)}, events=events)
    (cause,) = judge(run, find("gc", "flat", pauses + at(5, 0.002))).report.causes

    assert cause.summary == (
        "Python runs a full garbage collection in 6 of 600 steps. Each one pauses training for "
        "500 ms (median)."
    )
    assert "None of them freed an object." in cause.evidence
    assert cause.evidence[-1] == "1 longer collection of younger generations took 2 ms."
    assert cause.advice[0].text.startswith("Freeze start-up objects")


def test_a_callback_that_grows(make_run, find, judge):
    calls = np.linspace(0.001, 0.010, SIZE)
    run = make_run(STEP + calls, accounts={"callback:Plotter": calls})
    report = judge(run, find("callback:Plotter", "drift", calls)).report

    (cause,) = report.causes
    assert cause.summary == (
        "The `Plotter` callback takes 5.5 ms at every step. Late calls take 4.2 times as long "
        "as early ones."
    )
    assert cause.evidence == (
        "3.30 s (35.5% of the run) in the `Plotter` callback: 600 steps with 1 ms to 10 ms each.",
        "It grew from 2.12 ms (around step 75) to 8.88 ms (around step 524).",
    )
    assert report.headline == "3.3 s of 9.3 s lost (35%) to the Plotter callback."
    assert cause.advice[0].text.startswith("Look for what `Plotter` goes through again")


def test_a_callback_and_summaries_of_the_loop_are_a_cause_each(make_run, find, judge):
    board, written = np.full(SIZE, 0.004), np.full(SIZE, 0.001)
    run = make_run(
        STEP + board + written, accounts={"callback:TensorBoard": board, "summary": written}
    )
    account = judge(
        run, find("callback:TensorBoard", "flat", board), find("summary", "flat", written)
    )

    callback, loop = account.report.causes
    assert [callback.lost_seconds, loop.lost_seconds] == pytest.approx([2.4, 0.6])
    assert (callback.rank, loop.rank) == (1, 2)
    assert callback.subject == "the TensorBoard callback"
    assert loop.subject == "writing summaries"
    assert account.lost_per_step["callbacks"].sum() == pytest.approx(3.0)
    assert account.report.lost_by_cause() == {"callbacks": pytest.approx(3.0)}
    assert callback.evidence == (
        "2.40 s (26.7% of the run) in the `TensorBoard` callback: 600 steps with 4 ms each.",
    )
    assert callback.advice[0].text.startswith("Write less to TensorBoard")


def test_what_is_too_little_for_a_row_of_its_own_is_told_beside_the_largest(make_run, find, judge):
    plots, logs = np.full(SIZE, 0.004), np.full(SIZE, 0.0003)
    run = make_run(STEP + plots + logs, accounts={"callback:Plots": plots, "callback:Logs": logs})
    found = find("callback:Plots", "flat", plots), find("callback:Logs", "flat", logs)
    (cause,) = judge(run, *found).report.causes
    assert cause.lost_seconds == pytest.approx(2.58)
    assert cause.evidence[1] == (
        "0.18 s (2.1% of the run) in the `Logs` callback: 600 steps with 0.3 ms each."
    )


def test_summaries_of_tensorboard_after_each_batch(make_run, find, judge):
    rows = np.arange(99, SIZE, 100)
    written = np.full(SIZE, 0.001) + at(rows, 0.05)
    run = make_run(STEP + written, accounts={"summary:TensorBoard": written})
    (cause,) = judge(run, find("summary:TensorBoard", "flat", written)).report.causes

    assert cause.summary == (
        "Writing summaries in the `TensorBoard` callback takes 1 ms at every step."
    )
    assert cause.evidence == (
        "0.90 s (13.0% of the run) in writing summaries in the `TensorBoard` callback: 600 steps "
        "with 1 ms to 51 ms each.",
    )
    assert cause.advice[0].text.startswith("Write less to TensorBoard")
    assert "steps_per_execution=16" in cause.advice[1].code


def test_calls_that_cost_only_because_steps_are_short_say_so(make_run, find, judge):
    """Nothing is written but after each epoch: fewer calls help, fewer summaries do not."""
    written = np.full(SIZE, 0.0004) + at(range(199, SIZE, 200), 0.02)
    run = make_run(0.4 * STEP + written, accounts={"summary:TensorBoard": written})
    (cause,) = judge(run, find("summary:TensorBoard", "periodic", written)).report.causes

    assert cause.pattern == "flat"
    assert cause.evidence == (
        "0.30 s (11.1% of the run) in writing summaries in the `TensorBoard` callback: 600 steps "
        "with 0.4 ms to 20.4 ms each.",
        "It is mostly calls of 0.4 ms, which take no longer after a longer step: of one of 100 ms "
        "that would be 0.4%.",
    )
    (advice,) = cause.advice
    assert "steps_per_execution=16" in advice.code


def test_validation_that_grows_has_its_own_words(make_run, find, judge):
    rows = np.arange(99, SIZE, 100)
    each = np.linspace(0.1, 0.6, len(rows))
    found = find("validation", "drift", at(rows, each - 0.1))
    fit = Trace(1, "Keras train step", "fit.py:3", 0.1, 0.1, "first")
    for events, code in (([(0, fit)], "validation_freq=5"), ([], "val_ds.take(50)")):
        accounts = {"validation": at(rows, each)}
        run = make_run(STEP + at(rows, each), accounts=accounts, events=events)
        (cause,) = judge(run, found).report.causes
        assert cause.summary == "Validation takes 350 ms every 100 steps."
        assert [code in advice.code for advice in cause.advice] == [True]


@pytest.mark.parametrize(("each", "told"), [(0.2, True), (0.05, False)])
def test_validation_that_is_much_of_the_run_is_told_and_no_loss(make_run, judge, each, told):
    validation = at(range(19, SIZE, 20), each)
    report = judge(make_run(STEP + validation, accounts={"validation": validation})).report

    assert (report.verdict, report.lost_seconds) == ("healthy", 0.0)
    assert (
        report.notes
        == (
            "Validation took 6 s, 50.0% of the run: 200 ms each (median), every 20 steps. It "
            "is configured work and isn't counted as lost. To spend less, raise "
            "`validation_freq`, lower `validation_steps`, or call `evaluate` less often.",
        )
        * told
    )


def test_optimizers_that_a_save_makes_are_the_saves(make_run, find, judge):
    saving, made = at(slice(19, None, 20), 0.140), at(slice(19, None, 20), 0.010)
    run = make_run(
        STEP + saving + made,
        accounts={"checkpoint:ModelCheckpoint": saving, "optimizer_creation": made},
    )
    report = judge(
        run,
        find("checkpoint:ModelCheckpoint", "periodic", saving),
        find("optimizer_creation", "periodic", made),
    ).report

    (cause,) = report.causes
    assert cause.cause == "checkpointing"
    assert cause.lost_seconds == pytest.approx(30 * 0.150)

"""What is written, and what runs beside a step: the advice, tried."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from advice_snippet import (
    CaseOfAdvice,
    Snippet,
    check_all,
    check_case,
    small_data,
    small_model,
)

from tb_slowdown_plugin.analysis.advice import (
    callbacks,
    checkpointing,
    disk,
    profiling,
)

tf = pytest.importorskip("tensorflow")
pytestmark = [
    pytest.mark.tensorflow,
    # Keras says of every dataset that it does not shuffle it.
    pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning"),
    # Keras 3 converts tensors to numpy by the protocol of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


def keras_saves(callback, batches: int) -> int:
    """How often a callback saved in a fit of so many batches."""
    saves = []
    model = small_model()
    model.compile("sgd", "mse")
    for name in ("save", "save_weights"):
        setattr(model, name, lambda *args, **kwargs: saves.append(args))
    model.fit(small_data(batches), verbose=0, callbacks=[callback])
    return len(saves)


def saves_less_often(snippet: Snippet):
    counts = [
        keras_saves(snippet.run(side, {"path": "model.keras"})["saver"], 60)
        for side in ("old", "new")
    ]
    assert counts == [3, 0]


def saves_weights_only(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = small_model()
    model.compile("adam", "mse")
    saver = snippet.run("new")["saver"]
    model.fit(small_data(1), verbose=0, callbacks=[saver])
    other = small_model()
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def backs_up_less_often(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    backup = snippet.run("new")["backup"]
    assert backup.save_freq == 2_000
    model = small_model()
    model.compile("sgd", "mse")
    model.fit(small_data(1), verbose=0, callbacks=[backup])


def manager_of(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(7.0))
    return tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=3)


def saves_while_training(snippet: Snippet, tmp_path):
    manager = manager_of(tmp_path)
    snippet.run("new", {"manager": manager})
    manager.sync()
    assert tf.train.load_checkpoint(str(tmp_path)).get_tensor(
        "v/.ATTRIBUTES/VARIABLE_VALUE"
    ) == pytest.approx(7.0)


def saves_by_the_clock(snippet: Snippet):
    class Clock:
        seconds = 0.0

        def monotonic(self) -> float:
            return self.seconds

    class Manager:
        saves = 0

        def save(self):
            self.saves += 1

    clock, manager = Clock(), Manager()

    def train_step(batch):
        clock.seconds += 60

    names = {"time": clock, "manager": manager, "saved": 0.0, "train_step": train_step}
    snippet.run("new", {**names, "dataset": range(44)})
    assert manager.saves == 4


def keeps_few_checkpoints(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = []
    for side in ("old", "new"):
        names = snippet.run(side, {"ckpt": tf.train.Checkpoint(v=tf.Variable(1.0))})
        for number in range(5):
            names["manager"].save(checkpoint_number=number)
        counts.append(len(names["manager"].checkpoints))
    assert counts == [5, 3]


def works_in_every_hundredth_batch(snippet: Snippet):
    worked = []

    class Work:
        def work(self, batch, logs):
            worked.append(batch)

    method = snippet.run("new")["on_train_batch_end"]
    for batch in range(250):
        method(Work(), batch)
    assert worked == [0, 100, 200]


def keeps_a_running_value(snippet: Snippet):
    class State:
        total = 0.0

    method = snippet.run("new")["on_train_batch_end"]
    state = State()
    for batch, loss in enumerate([1.0, 2.0, 6.0]):
        method(state, batch, {"loss": loss})
    assert state.total / 3 == 3.0


def writes_less_to_tensorboard(snippet: Snippet, tmp_path, monkeypatch):
    sizes = []
    for side in ("old", "new"):
        monkeypatch.chdir(tmp_path)
        code = snippet.code.replace('"logs"', repr(str(tmp_path / side)))
        board = Snippet(code).run(side)["board"]
        model = small_model()
        model.compile("sgd", "mse")
        model.fit(small_data(60), verbose=0, callbacks=[board])
        sizes.append(sum(f.stat().st_size for f in (tmp_path / side).rglob("*") if f.is_file()))
    assert sizes[1] < sizes[0] / 2


def writes_fewer_summaries(snippet: Snippet, tmp_path):
    written = []

    class Summary:
        @staticmethod
        def scalar(name, value, step):
            written.append(step)

    class Stand:
        summary = Summary

    for step in range(250):
        snippet.run("new", {"tf": Stand, "step": step, "loss": 1.0})
    assert written == [0, 100, 200]


def validates_less_often(snippet: Snippet):
    validations = []

    class Counter(tf.keras.callbacks.Callback):
        def on_test_begin(self, logs=None):
            validations.append(1)

    model = small_model()
    model.compile("sgd", "mse")
    fit = model.fit
    model.fit = lambda *args, **kwargs: fit(*args, **kwargs, verbose=0, callbacks=[Counter()])
    snippet.run("new", {"model": model, "ds": small_data(1), "val_ds": small_data(60)})
    assert len(validations) == 4


def captures_a_few_steps(snippet: Snippet):
    calls = []

    class Profiler:
        def start(self, logdir):
            calls.append(("start", step_now[0]))

        def stop(self):
            calls.append(("stop", step_now[0]))

    step_now = [0]

    def train_step(batch):
        step_now[0] += 1

    names = {"profiler": Profiler(), "logdir": "logs", "train_step": train_step}
    snippet.run("new", {**names, "dataset": range(200)})
    assert calls == [("start", 100), ("stop", 110)]


def appends_what_is_new(snippet: Snippet, tmp_path):
    sizes = {}
    for side in ("old", "new"):
        path, written = tmp_path / side, []
        for number in range(3):
            block = bytes([number]) * 10
            written.append(block)
            snippet.run(side, {"path": path, "written": written, "block": block})
        sizes[side] = path.read_bytes()
    assert sizes["new"] == sizes["old"]
    assert len(sizes["new"]) == 30


def copies_when_the_save_is_done(snippet: Snippet, tmp_path):
    manager = manager_of(tmp_path / "local")
    shared = tmp_path / "shared"
    with ThreadPoolExecutor(1) as pool:
        names = {"manager": manager, "pool": pool, "shutil": shutil, "shared": shared}
        snippet.run("new", names)
    assert (shared / "ckpt-1.index").is_file()
    assert (shared / "checkpoint").is_file()


def deletes_old_checkpoints_when_told(snippet: Snippet, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "ckpt"
    folder.mkdir()
    for number in range(1, 6):
        for end in ("index", "data-00000-of-00001"):
            file = folder / f"ckpt-{number}.{end}"
            file.touch()
            os.utime(file, (number, number))
    (folder / "checkpoint").touch()
    everything = sorted(folder.iterdir())

    snippet.run("new", {"pathlib": pathlib})
    assert sorted(folder.iterdir()) == everything
    assert capsys.readouterr().out.count("would delete") == 4

    told = Snippet(snippet.code.replace("dry_run = True", "dry_run = False"))
    told.run("new", {"pathlib": pathlib})
    left = sorted(file.name for file in folder.iterdir())
    assert left == sorted(
        [
            "checkpoint",
            *(f"ckpt-{n}.{e}" for n in (3, 4, 5) for e in ("index", "data-00000-of-00001")),
        ]
    )


def leaves_no_temporary_files(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def write_parts(folder):
        (pathlib.Path(folder) / "part").touch()

    left = []
    for side in ("old", "new"):
        snippet.run(side, {"tempfile": tempfile, "write_parts": write_parts})
        left.append(len(list(tmp_path.iterdir())))
    assert left == [1, 1], "the old one stays, the new one goes"


def prints_one_line_an_epoch(snippet: Snippet, capsys):
    model = small_model()
    model.compile("sgd", "mse")
    snippet.run("new", {"model": model, "ds": small_data(3)})
    assert capsys.readouterr().out.count("loss:") == 20


CASES: dict[str, CaseOfAdvice] = {
    "save_freq": (
        checkpointing.advise("ModelCheckpoint", grows=False),
        "Save less often",
        saves_less_often,
    ),
    "weights": (
        checkpointing.advise("ModelCheckpoint", grows=False),
        "Save the weights",
        saves_weights_only,
    ),
    "backup": (
        checkpointing.advise("BackupAndRestore", grows=False),
        "Back up less",
        backs_up_less_often,
    ),
    "async": (checkpointing.advise("", grows=False), "Write while", saves_while_training),
    "clock": (checkpointing.advise("", grows=False), "Save by the clock", saves_by_the_clock),
    "max_to_keep": (
        checkpointing.advise("", grows=True),
        "Keep a few checkpoints",
        keeps_few_checkpoints,
    ),
    "nth": (
        callbacks.advise("callback", "Slow", grows=False),
        "Let `Slow` work",
        works_in_every_hundredth_batch,
    ),
    "running": (
        callbacks.advise("callback", "Slow", grows=True),
        "Keep a running value",
        keeps_a_running_value,
    ),
    "tensorboard": (
        callbacks.advise("callback", "TensorBoard", grows=False),
        "Write less to TensorBoard",
        writes_less_to_tensorboard,
    ),
    "summaries": (
        callbacks.advise("summary", "", grows=False),
        "Write summaries",
        writes_fewer_summaries,
    ),
    "validation": (
        callbacks.advise("validation", "", grows=True),
        "Validate less",
        validates_less_often,
    ),
    "capture": (profiling.advise(), "Capture a few", captures_a_few_steps),
    "append": (disk.advise(grows=True), "Append what", appends_what_is_new),
    "local": (disk.advise(), "Write to a local", copies_when_the_save_is_done),
    "old": (disk.advise(), "Delete checkpoints", deletes_old_checkpoints_when_told),
    "temporary": (disk.advise(), "Put temporary", leaves_no_temporary_files),
    "one line": (
        callbacks.advise("callback", "ProgbarLogger", grows=False),
        "Print one line",
        prints_one_line_an_epoch,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)

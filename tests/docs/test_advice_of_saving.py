"""What is written: the advice, tried."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Snippet,
    check_all,
    check_case,
    small_data,
    small_model,
)

from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.saving import (
    checkpointing_fixes as checkpointing,
)
from tb_slowdown_plugin.analysis.causes.saving import (
    disk_fixes as disk,
)

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


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


def saves_the_models_weights(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = small_model()
    model.compile("adam", "mse")
    model.fit(small_data(1), verbose=0)
    for side in ("old", "new"):
        snippet.run(side, {"model": model})
    whole, weights = (tmp_path / name for name in ("model.keras", "model.weights.h5"))
    assert weights.stat().st_size < whole.stat().st_size
    other = small_model()
    other.load_weights(weights)
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


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


def checkpoint_saves_while_training(snippet: Snippet, tmp_path):
    ckpt = tf.train.Checkpoint(v=tf.Variable(7.0))
    snippet.run("new", {"ckpt": ckpt, "path": str(tmp_path / "ckpt")})
    ckpt.sync()
    assert tf.train.load_checkpoint(str(tmp_path)).get_tensor(
        "v/.ATTRIBUTES/VARIABLE_VALUE"
    ) == pytest.approx(7.0)


def manager_keeps_few(snippet: Snippet, tmp_path, monkeypatch):
    left = []
    for side in ("old", "new"):
        folder = tmp_path / side
        folder.mkdir()
        monkeypatch.chdir(folder)
        ckpt = tf.train.Checkpoint(v=tf.Variable(1.0))
        names = {"ckpt": ckpt, "dataset": range(5), "train_step": lambda _batch: None}
        snippet.run(side, names)
        left.append(len(list((folder / "ckpt").glob("ckpt-*.index"))))
    assert left == [5, 3]


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

    names = {"time": clock, "manager": manager, "train_step": train_step}
    snippet.run("new", {**names, "dataset": range(44)})
    assert manager.saves == 4, "every 10 minutes, a minute late"


def saves_by_the_clock_in_fit(snippet: Snippet, tmp_path, monkeypatch):
    class Clock:
        seconds = 0.0

        @classmethod
        def monotonic(cls) -> float:
            cls.seconds += 300
            return cls.seconds

    monkeypatch.chdir(tmp_path)
    saver = snippet.run("new", {"time": Clock})["SaveByTheClock"]()
    model = small_model()
    model.compile("sgd", "mse")
    model.fit(small_data(9), verbose=0, callbacks=[saver])
    assert (tmp_path / "model.keras").is_file()
    assert saver.saved > 300.0


def keeps_few_checkpoints(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = []
    for side in ("old", "new"):
        names = snippet.run(side, {"ckpt": tf.train.Checkpoint(v=tf.Variable(1.0))})
        for number in range(5):
            names["manager"].save(checkpoint_number=number)
        counts.append(len(names["manager"].checkpoints))
    assert counts == [5, 3]


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


def told(who: str, **more) -> tuple:
    return checkpointing.advise(checkpointing.Saving(who, **more))


WRITES = Program(saves=True, summaries=True)
SLOW = {"seconds": 0.5, "step_seconds": 0.025}

CASES: dict[str, CaseOfAdvice] = {
    "save_freq": (told("ModelCheckpoint", **SLOW), "Save less often", saves_less_often),
    "weights": (told("ModelCheckpoint", **SLOW), "Save the weights", saves_weights_only),
    "backup": (told("BackupAndRestore", **SLOW), "Back up less", backs_up_less_often),
    "model's weights": (told("model.save"), "Save the weights", saves_the_models_weights),
    "async": (told(""), "Write while", saves_while_training),
    "async, checkpoint": (
        told("tf.train.Checkpoint"),
        "Write while",
        checkpoint_saves_while_training,
    ),
    "clock": (told(""), "Save by the clock", saves_by_the_clock),
    "clock in a callback": (
        told("model.save", in_callback=True, run_seconds=3_000.0),
        "Let the callback save",
        saves_by_the_clock_in_fit,
    ),
    "max_to_keep": (told("", grows=True), "Keep only a few checkpoints", keeps_few_checkpoints),
    "manager": (told("tf.train.Checkpoint"), "Keep only a few checkpoints", manager_keeps_few),
    "append": (
        disk.advise(disk.Writing(WRITES, grows=True)),
        "Append what",
        appends_what_is_new,
    ),
    "local": (
        disk.advise(disk.Writing(WRITES, full=True)),
        "Write to a local",
        copies_when_the_save_is_done,
    ),
    "old": (
        disk.advise(disk.Writing(WRITES, full=True)),
        "Delete checkpoints",
        deletes_old_checkpoints_when_told,
    ),
    "temporary": (
        disk.advise(disk.Writing(WRITES, full=True)),
        "Put temporary",
        leaves_no_temporary_files,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES, elsewhere=("Write summaries",))  # of callbacks

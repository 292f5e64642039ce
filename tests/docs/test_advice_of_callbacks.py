"""What runs beside a step: the advice, tried."""

from __future__ import annotations

import os

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

from tb_slowdown_plugin.analysis.causes.machine import (
    profiling,
)
from tb_slowdown_plugin.analysis.causes.machine.profiling import (
    ProfilerStarter,
)
from tb_slowdown_plugin.analysis.causes.saving import callbacks_fixes as callbacks
from tb_slowdown_plugin.analysis.causes.saving.callbacks_fixes import Calls

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


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


def predicts_the_same_in_fewer_batches(snippet: Snippet):
    model, examples = small_model(), np.ones([100, 2], np.float32)
    predict, answers, batches = model.predict, [], []

    class Count(tf.keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            batches[-1] = batch + 1

    def counted(*args, **kwargs):
        batches.append(0)
        answers.append(predict(*args, callbacks=[Count()], **kwargs))

    model.predict = counted
    for side in ("old", "new"):
        snippet.run(side, {"model": model, "examples": examples})
    assert batches == [4, 1]
    np.testing.assert_allclose(*answers, rtol=1e-6)


def works_after_every_fifth_epoch(snippet: Snippet):
    worked = []

    class Work:
        def work(self, epoch, logs):
            worked.append(epoch)

    method = snippet.run("new")["on_epoch_end"]
    for epoch in range(12):
        method(Work(), epoch)
    assert worked == [0, 5, 10]


def keeps_the_newest_files(snippet: Snippet, tmp_path):
    checked = {}

    class Upload:
        def __init__(self, side):
            self.files = []
            self.folder = tmp_path / side
            self.folder.mkdir()
            self.checked = checked.setdefault(side, [])

        def save(self, epoch):
            path = self.folder / str(epoch)
            path.touch()
            return path

        def check(self, file):
            assert file.exists()
            self.checked.append(file.name)

    for side in ("old", "new"):
        method, upload = snippet.run(side, {"os": os})["on_epoch_end"], Upload(side)
        for epoch in range(6):
            method(upload, epoch)
    assert len(checked["old"]) == 21
    assert checked["new"][-3:] == ["3", "4", "5"]
    assert len(checked["new"]) == 15
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["3", "4", "5"]


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


def calls_back_every_16_batches(snippet: Snippet):
    calls = []

    class Counter(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            calls[-1] += 1

    for side in ("old", "new"):
        model = small_model()
        snippet.run(side, {"model": model})
        calls.append(0)
        model.fit(small_data(32), verbose=0, callbacks=[Counter()])
    assert calls == [32, 2]


def prints_one_line_an_epoch(snippet: Snippet, capsys):
    model = small_model()
    model.compile("sgd", "mse")
    snippet.run("new", {"model": model, "ds": small_data(3)})
    assert capsys.readouterr().out.count("loss:") == 20


def captures_a_few_steps(snippet: Snippet):
    calls = []

    class ProfilerStarter:
        def start(self, logdir):
            calls.append(("start", step_now[0]))

        def stop(self):
            calls.append(("stop", step_now[0]))

    step_now = [0]

    def train_step(batch):
        step_now[0] += 1

    names = {"profiler": ProfilerStarter(), "logdir": "logs", "train_step": train_step}
    snippet.run("new", {**names, "dataset": range(200)})
    assert calls == [("start", 100), ("stop", 110)]


def validates_on_few_batches(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        seen: list = []
        names = {"val_ds": tf.data.Dataset.range(80), "evaluate_step": seen.append}
        snippet.run(side, names)
        counts.append(len(seen))
    assert counts == [80, 50]


CASES: dict[str, CaseOfAdvice] = {
    "nth": (
        callbacks.advise(Calls("callback", "Slow")),
        "Let `Slow` work",
        works_in_every_hundredth_batch,
    ),
    "running": (
        callbacks.advise(Calls("callback", "Slow", grows=True)),
        "Look for what `Slow` goes",
        keeps_a_running_value,
    ),
    "larger": (
        callbacks.advise(Calls("callback", "Slow", calls_on_short_batches="predict")),
        "Let `predict` take",
        predicts_the_same_in_fewer_batches,
    ),
    "fifth": (
        callbacks.advise(Calls("callback", "Upload", at_epochs=True)),
        "Let `Upload` work after",
        works_after_every_fifth_epoch,
    ),
    "twice": (
        callbacks.advise(Calls("callback", "Upload", grows=True, at_epochs=True)),
        "Look for what `Upload` goes",
        keeps_the_newest_files,
    ),
    "tensorboard": (
        callbacks.advise(Calls("callback", "TensorBoard")),
        "Write less to TensorBoard",
        writes_less_to_tensorboard,
    ),
    "calls": (
        callbacks.advise(Calls("summary", "TensorBoard", at_every_step=True)),
        "Let one call",
        calls_back_every_16_batches,
    ),
    "summaries": (
        callbacks.advise(Calls("summary")),
        "Write summaries",
        writes_fewer_summaries,
    ),
    "validation": (
        callbacks.advise(Calls("validation", grows=True)),
        "Validate less",
        validates_less_often,
    ),
    "one line": (
        callbacks.advise(Calls("callback", "ProgbarLogger")),
        "Print one line",
        prints_one_line_an_epoch,
    ),
    "short validation": (
        callbacks.advise(Calls("validation", in_fit=False)),
        "Validate on a fixed",
        validates_on_few_batches,
    ),
    "capture": (
        profiling.advise(ProfilerStarter(by_callback=False)),
        "Capture a few",
        captures_a_few_steps,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)

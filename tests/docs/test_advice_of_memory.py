"""Garbage collection, device memory, gradients and optimizers: the advice, tried."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Snippet,
    check_all,
    check_case,
    small_model,
)

from tb_slowdown_plugin.analysis.causes.data import (
    communication,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    garbage_collection_fixes as garbage_collection,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    gpu_memory,
)
from tb_slowdown_plugin.analysis.causes.memory.garbage_collection_fixes import (
    Collections,
)
from tb_slowdown_plugin.analysis.causes.model import (
    backward_pass,
    optimizer_state,
)

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def freezes_the_start(snippet: Snippet):
    try:
        snippet.run("new")
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()


def collects_once_an_epoch(snippet: Snippet):
    thresholds = gc.get_threshold()
    full = gc.get_stats()[2]["collections"]
    try:
        snippet.run("new", {"epochs": 2, "train_one_epoch": lambda: None})
        assert gc.get_threshold() == (10_000, 20, 100)
        assert gc.get_stats()[2]["collections"] == full + 2
    finally:
        gc.set_threshold(*thresholds)


def keeps_numbers_in_an_array(snippet: Snippet):
    losses = np.zeros(3)
    for step in range(3):
        snippet.run("new", {"losses": losses, "step": step, "loss": tf.constant(step + 1.0)})
    assert losses.tolist() == [1.0, 2.0, 3.0]


def collects_after_the_loop(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        before = gc.get_stats()[2]["collections"]
        snippet.run(side, {"dataset": range(4), "train_step": lambda batch: None})
        counts.append(gc.get_stats()[2]["collections"] - before)
    assert counts == [4, 1]


def collects_once_in_each_epoch(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        before = gc.get_stats()[2]["collections"]
        names = {"epochs": 2, "dataset": range(3), "train_step": lambda batch: None}
        snippet.run(side, names)
        counts.append(gc.get_stats()[2]["collections"] - before)
    assert counts == [6, 2]


def clears_before_a_new_model(snippet: Snippet, monkeypatch):
    class Model:
        def train_on_batch(self, *batch):
            return 0.0

    cleared: list = []
    monkeypatch.setattr(tf.keras.backend, "clear_session", lambda: cleared.append(1))
    counts = []
    for side in ("old", "new"):
        cleared.clear()
        names = {"model": Model(), "build_model": Model, "dataset": [(1, 2)] * 3}
        snippet.run(side, names)
        counts.append(len(cleared))
    assert counts == [3, 1]


def makes_the_optimizer_once(snippet: Snippet):
    for side, iterations in (("old", 1), ("new", 3)):
        variables = [tf.Variable([1.0])]
        names = {"variables": variables, "steps": [[tf.ones([1])]] * 3}
        optimizer = snippet.run(side, names)["optimizer"]
        assert int(optimizer.iterations) == iterations


def really_accumulates(snippet: Snippet):
    optimizer = snippet.run("new")["optimizer"]
    variable = tf.Variable([1.0])
    seen = []
    for _ in range(8):
        optimizer.apply_gradients([(tf.ones([1]), variable)])
        seen.append(float(variable[0]))
    assert seen[:3] == [1.0] * 3, "nothing is updated until four gradients are there"
    assert seen[3] == pytest.approx(1.0 - 1e-3, abs=1e-6)
    assert seen[4:7] == [seen[3]] * 3
    assert seen[7] < seen[3]


def stops_the_gradient(snippet: Snippet):
    gradients = []
    for side in ("old", "new"):
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            state = w * 1.0
            for _ in range(2):
                names = {"cell": lambda batch, state, w=w: w * state, "batch": 1, "state": state}
                state = snippet.run(side, names)["state"]
        gradients.append(float(tape.gradient(state, w)))
    # w ** 3 has the gradient 3 w ** 2; of the last step alone it is the state before.
    assert gradients == [12.0, 4.0]


def computes_in_half_precision(snippet: Snippet):
    try:
        snippet.run("new")
        model = small_model()
        assert model.layers[0].compute_dtype == "float16"
        assert model.layers[0].kernel.dtype == "float32"
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def makes_small_batches_of_large_updates(snippet: Snippet):
    made = {}
    for side in ("old", "new"):
        names = snippet.run(side, {"ds": tf.data.Dataset.range(64)})
        variable, updates = tf.Variable([1.0]), set()
        batches = list(names["ds"])
        for _ in batches:
            names["optimizer"].apply_gradients([(tf.ones([1]), variable)])
            updates.add(float(variable[0]))
        made[side] = (len(batches[0]), len(updates - {1.0}))
    assert made == {"old": (64, 1), "new": (16, 1)}


def asks_for_the_pool_of_cuda(snippet: Snippet, monkeypatch):
    monkeypatch.delenv("TF_GPU_ALLOCATOR", raising=False)
    snippet.run("new", {"os": os})
    assert os.environ["TF_GPU_ALLOCATOR"] == "cuda_malloc_async"
    monkeypatch.delenv("TF_GPU_ALLOCATOR")


def grows_the_memory_of_each_device(snippet: Snippet, monkeypatch):
    grown = []
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [f"{kind}:0", f"{kind}:1"])
    monkeypatch.setattr(
        tf.config.experimental, "set_memory_growth", lambda *each: grown.append(each)
    )
    snippet.run("new")
    assert grown == [("GPU:0", True), ("GPU:1", True)]


CASES: dict[str, CaseOfAdvice] = {
    "freeze": (garbage_collection.advise(Collections()), "Freeze start-up", freezes_the_start),
    "schedule": (
        garbage_collection.advise(Collections()),
        "Collect at a time",
        collects_once_an_epoch,
    ),
    "fewer objects": (
        garbage_collection.advise(Collections()),
        "Keep fewer",
        keeps_numbers_in_an_array,
    ),
    "forced": (
        garbage_collection.advise(Collections(periodic=True)),
        "Look for a `gc.collect()`",
        collects_after_the_loop,
    ),
    "call": (
        garbage_collection.advise(Collections(callers=("train.py:9",))),
        "Remove `gc.collect()` at train.py:9: Python collects",
        collects_once_in_each_epoch,
    ),
    "session": (
        garbage_collection.advise(Collections(sessions=("train.py:9",))),
        "Call `tf.keras.backend.clear_session()` at train.py:9 only",
        clears_before_a_new_model,
    ),
    "optimizer": (
        optimizer_state.advise(optimizer_state.Updates(made=True, grown=True)),
        "Create the optimizer once",
        makes_the_optimizer_once,
    ),
    "accumulate": (
        communication.advise(communication.Workers()),
        "Accumulate gradients",
        really_accumulates,
    ),
    "stop gradient": (
        backward_pass.advise(backward_pass.Backward()),
        "Stop the gradient",
        stops_the_gradient,
    ),
    "half": (
        backward_pass.advise(backward_pass.Backward()),
        "Compute in half",
        computes_in_half_precision,
    ),
    "small batches": (
        gpu_memory.advise(gpu_memory.DeviceMemory(shared=True)),
        "Make the batch smaller",
        makes_small_batches_of_large_updates,
    ),
    "pool": (
        gpu_memory.advise(gpu_memory.DeviceMemory(shared=True)),
        "Let CUDA manage",
        asks_for_the_pool_of_cuda,
    ),
    "growth": (
        gpu_memory.advise(gpu_memory.DeviceMemory(shared=True)),
        "Where other processes",
        grows_the_memory_of_each_device,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES, elsewhere=("Store floats", "Open one `tf.GradientTape`"))  # of host memory

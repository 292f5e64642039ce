"""The pipeline that feeds a step: the advice, tried."""

from __future__ import annotations

import collections
import contextlib
import threading

import numpy as np
import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Count,
    Snippet,
    check_all,
    check_case,
    counting,
    small_model,
)

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.data import input_fixes as input_pipeline
from tb_slowdown_plugin.analysis.causes.data.input_fixes import RecordedInputWait

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def runs_the_stage_in_parallel(snippet: Snippet):
    together = []

    def augment(x):
        def meet(value):
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(timeout=10)
                together.append(1)
            return value

        return tf.numpy_function(meet, [x], tf.int64)

    barrier = threading.Barrier(2)
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(4), "augment": augment})["ds"]
    assert [int(x) for x in ds] == [0, 1, 2, 3]
    assert len(together) >= 2, "no two elements were ever worked on at once"


def prepares_the_next_batch(snippet: Snippet):
    second = threading.Event()

    def note(value):
        if value >= 64:
            second.set()
        return value

    ds = tf.data.Dataset.range(256).map(lambda x: tf.numpy_function(note, [x], tf.int64)).batch(64)
    iterator = iter(snippet.run("new", {"ds": ds})["ds"])
    next(iterator)
    assert second.wait(10), "nothing was prepared while the first batch was in use"


def caches_before_randomness(snippet: Snippet):
    calls: list = []
    augmented: list = []
    ds = snippet.run(
        "new",
        {
            "ds": tf.data.Dataset.range(5),
            "decode": counting(calls),
            "augment": counting(augmented),
        },
    )["ds"]
    assert [sorted(int(x) for x in ds) for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2
    assert (len(calls), len(augmented)) == (5, 10)


def prepares_once(snippet: Snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls: list = []
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(5), "decode": counting(calls)})["ds"]
    assert [[int(x) for x in ds] for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2
    assert len(calls) == 5


def interleaves_files(snippet: Snippet, tmp_path):
    files = []
    for number in range(3):
        files.append(str(tmp_path / f"{number}.tfrecord"))
        with tf.io.TFRecordWriter(files[-1]) as writer:
            for record in range(4):
                writer.write(f"{number}{record}".encode())
    read = {side: list(snippet.run(side, {"files": files})["ds"]) for side in ("old", "new")}
    old, new = (sorted(x.numpy() for x in read[side]) for side in ("old", "new"))
    assert old == new
    assert len(new) == 12


def works_on_batches(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls: list = []
        ds = snippet.run(side, {"ds": tf.data.Dataset.range(128), "scale": counting(calls)})["ds"]
        assert [batch.numpy().tolist() for batch in ds] == [
            list(range(64)),
            list(range(64, 128)),
        ]
        counts.append(len(calls))
    assert counts == [128, 2]


def pulled_before_first(side: str, snippet: Snippet, **namespace) -> int:
    """How many elements are taken from the source until the first one comes out."""
    pulled: list = []
    ds = tf.data.Dataset.range(4_000).map(counting(pulled))
    next(iter(snippet.run(side, {"ds": ds, **namespace})["ds"]))
    return len(pulled)


def fills_less(snippet: Snippet):
    assert pulled_before_first("old", snippet) == 4_000
    assert pulled_before_first("new", snippet) <= 2_001


def shuffles_before_the_work(snippet: Snippet):
    decoded: list = []
    for side, most, least in (("old", 4_000, 2_000), ("new", 100, 1)):
        decoded.clear()
        ds = tf.data.Dataset.range(4_000)
        iterator = iter(snippet.run(side, {"ds": ds, "decode": counting(decoded)})["ds"])
        next(iterator)
        assert least <= len(decoded) <= most


def filters_before_the_work(snippet: Snippet):
    decoded: list = []

    def decode(data, size):
        return counting(decoded)(data), size

    counts = []
    for side in ("old", "new"):
        decoded.clear()
        ds = tf.data.Dataset.range(90).map(lambda x: (x, x))
        kept = [size.numpy() for _, size in snippet.run(side, {"ds": ds, "decode": decode})["ds"]]
        assert kept == list(range(33, 90))
        counts.append(len(decoded))
    assert counts == [90, 57]


def repeats_inside(snippet: Snippet):
    steps: list = []
    snippet.run(
        "new",
        {"ds": tf.data.Dataset.range(128).batch(64), "epochs": 3, "train_step": steps.append},
    )
    seen = np.concatenate([batch.numpy() for batch in steps])
    assert len(steps) == 6
    assert np.bincount(seen).tolist() == [3] * 128


def completes_the_cache(snippet: Snippet):
    for side, expected in (("old", 300), ("new", 100)):
        calls = Count()
        start = {"ds": tf.data.Dataset.range(150), "decode": counting(calls)}
        ds = snippet.run(side, start)["ds"]
        for _ in range(3):
            assert sum(1 for _ in ds) == 100
        assert len(calls) == expected


def makes_batches_in_processes(snippet: Snippet):
    class Batches(tf.keras.utils.PyDataset):
        def __init__(self, x, y, **kwargs):
            super().__init__(**kwargs)

    known = {"Batches": Batches, "x": None, "y": None}
    made = [snippet.run(side, known)["train"] for side in ("old", "new")]
    assert [(each.workers, each.use_multiprocessing) for each in made] == [(1, False), (4, True)]


def bounds_a_history(snippet: Snippet):
    lengths = []
    for side in ("old", "new"):
        known = {"source": range(12_000), "collections": collections, "sample": len}
        lengths.append(max(snippet.run(side, known)["elements"]()))
    assert lengths == [12_000, 10_000]


def batches_in_parallel(snippet: Snippet):
    for side in ("old", "new"):
        ds = snippet.run(side, {"ds": tf.data.Dataset.range(128)})["ds"]
        assert [int(batch[0]) for batch in ds] == [0, 64]


def slices_what_fits(snippet: Snippet):
    def elements():
        yield from np.arange(6.0).reshape(3, 2)

    names = {"elements": elements, "spec": tf.TensorSpec([2], tf.float64)}
    old, new = (
        [x.numpy().tolist() for x in snippet.run(side, names)["ds"]] for side in ("old", "new")
    )
    assert new == old == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def tunes_nothing(snippet: Snippet):
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(4).batch(2)})["ds"]
    assert ds.options().autotune.enabled is False
    assert [x.numpy().tolist() for x in ds] == [[0, 1], [2, 3]]


def replaces_python(snippet: Snippet, tmp_path):
    path = str(tmp_path / "x.png")
    tf.io.write_file(path, tf.io.encode_png(tf.fill([4, 5, 3], tf.constant(255, tf.uint8))))
    load = snippet.run("new")["load"]
    (image,) = tf.data.Dataset.from_tensors(path).map(load)
    assert image.shape == (4, 5, 3)
    assert float(tf.reduce_min(image)) == 1.0
    graph = tf.function(load).get_concrete_function(tf.constant(path)).graph
    assert not any("PyFunc" in operation.type for operation in graph.get_operations())
    np.save(tmp_path / "y.npy", np.ones(2, np.float32))
    old = snippet.run("old")["load"](tf.constant(str(tmp_path / "y.npy")))
    assert old.numpy().tolist() == [1.0, 1.0]


def loads_in_processes(snippet: Snippet):
    asked = []

    class Pool:
        def __init__(self, processes):
            asked.append(processes)

        def imap(self, function, values, chunksize):
            return map(function, values)

    class Stand:
        @staticmethod
        def get_context(method):
            asked.append(method)
            return Stand

    Stand.Pool = Pool
    names = {"multiprocessing": Stand, "paths": [1, 2], "load": lambda path: np.float32(path)}
    ds = snippet.run("new", {**names, "spec": tf.TensorSpec([], tf.float32)})["ds"]
    assert [float(x) for x in ds] == [1.0, 2.0]
    assert asked == ["spawn", 4]


def generates_whole_batches(snippet: Snippet):
    names = {"draw_example": lambda: 7, "draw_examples": lambda number: [7] * number}

    def first(side):
        source = tf.data.Dataset.range(64)
        made = snippet.run(side, {**names, "ds": source})
        elements = next(iter(made["elements"]()))
        return np.size(elements), made["ds"] is source

    assert first("old") == (1, False)
    assert first("new") == (32, True)


def fits(snippet: Snippet, side: str) -> int:
    """Batches of a fit on arrays."""
    seen: list = []
    model = small_model()
    model.compile("sgd", "mse")
    note = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: seen.append(1))
    fit = model.fit
    model.fit = lambda *args, **kwargs: fit(*args, **kwargs, verbose=0, callbacks=[note])
    names = {"model": model, "x": np.ones([512, 2]), "y": np.ones([512, 1]), "epochs": 1}
    snippet.run(side, names)
    return len(seen)


def makes_a_dataset_once(snippet: Snippet):
    assert [fits(snippet, side) for side in ("old", "new")] == [16, 16]


def uses_larger_batches(snippet: Snippet):
    assert [fits(snippet, side) for side in ("old", "new")] == [16, 2]


def runs_several_steps(snippet: Snippet):
    model = small_model()
    snippet.run("new", {"model": model})
    assert model.steps_per_execution == 16


def tells(stages: str = "", stage: str = "", **more):
    names = ("python", "generator", "endless", "shuffle_buffer")
    numbers = {name: more.pop(name) for name in names if name in more}
    known = Pipeline(tuple(stages.split()), numbers) if stages else None
    program = Program(known, arrays=more.pop("arrays", False), in_fit=more.pop("in_fit", False))
    return input_pipeline.advise(RecordedInputWait(program, stage, **more))


ARRAYS = tells(arrays=True)
PYTHON = tells("TensorSlice Map Batch", "Map#3", python=1.0)
DRAWN = tells("Tensor FlatMap Batch", "Generator#4", generator=1.0, endless=1.0)
SHUFFLED = tells("TensorSlice Map Shuffle Batch", at_epochs=True)

CASES: dict[str, CaseOfAdvice] = {
    "parallel": (tells(), "Run the slow stage", runs_the_stage_in_parallel),
    "prefetch": (tells(), "Prefetch", prepares_the_next_batch),
    "cache": (tells(), "Cache what is", caches_before_randomness),
    "unfilled": (tells(unfilled=True), "Put `take` before", completes_the_cache),
    "workers": (tells(workers=1), "Make several", makes_batches_in_processes),
    "history": (tells(grows=True), "Look for Python code", bounds_a_history),
    "interleave": (tells(), "Read several", interleaves_files),
    "batch": (tells("Range Map Batch"), "Process whole", works_on_batches),
    "once": (tells("Range Map Batch", beside=True), "Compute what is", prepares_once),
    "parallel batch": (tells(stage="BatchV2#2"), "Build batches", batches_in_parallel),
    "generator": (tells(stage="Generator#4"), "Load the data", slices_what_fits),
    "drawn": (DRAWN, "Let the generator make", generates_whole_batches),
    "python": (PYTHON, "Replace `tf.py_function`", replaces_python),
    "processes": (PYTHON, "Or run the Python code", loads_in_processes),
    "arrays": (ARRAYS, "Turn the arrays", makes_a_dataset_once),
    "large batches": (ARRAYS, "Use larger batches", uses_larger_batches),
    "several steps": (ARRAYS, "Run 16 batches", runs_several_steps),
    "buffer": (SHUFFLED, "Make the shuffle buffer", fills_less),
    "early": (SHUFFLED, "Shuffle before", shuffles_before_the_work),
    "filter": (tells(filters_late=True), "Put the `filter` before", filters_before_the_work),
    "repeat": (SHUFFLED, "Repeat inside", repeats_inside),
    "tuner": (tells(at_ends=True), "Disable autotuning", tunes_nothing),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES, elsewhere=("Repeat inside the pipeline, and",))  # of repeated setup

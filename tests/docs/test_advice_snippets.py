"""Every snippet of every advice runs with TensorFlow and does what its text says.

A snippet is turned into two programs: the old one of "-" and context lines,
the new one of "+" and context lines. Each check runs both where the old one
can show its defect.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.advice import (
    backward_pass,
    callbacks,
    checkpointing,
    communication,
    cpu_contention,
    disk,
    garbage_collection,
    gpu_memory,
    graph_growth,
    host_device_transfer,
    host_memory,
    input_pipeline,
    optimizer_state,
    profiling,
    python_overhead,
    retraced_functions,
    retracing,
    shape_churn,
    tensor_retention,
    thermal,
    warm_up,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.records.types import Change, Trace

tf = pytest.importorskip("tensorflow")
pytestmark = [
    pytest.mark.tensorflow,
    # Keras says of every dataset that it does not shuffle it.
    pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning"),
    # Keras 3 converts tensors to numpy by the protocol of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

SPEC = "tf.TensorSpec(shape=[None, 4], dtype=tf.float32)"


@dataclass
class Snippet:
    """The two programs of a snippet."""

    code: str

    def run(self, side: str, namespace: dict | None = None, **replaced: str) -> dict:
        """Runs the "old" or the "new" program; `replaced` are stand-ins for "def f(...):"."""
        sign = {"old": "-", "new": "+"}[side]
        lines = [line[2:] for line in self.code.splitlines() if line[:1] in (sign, " ")]
        program = "\n".join(lines)
        for text, stand_in in replaced.items():
            assert PLACES[text] in program, f"{PLACES[text]!r} is not in {program!r}"
            program = program.replace(PLACES[text], stand_in)
        names = {"tf": tf, "np": np, "gc": gc, "time": time, "collections": collections}
        names.update(namespace or {})
        exec(program, names)  # the point of the test: the advice is a program
        return names


PLACES = {
    "definition": "def train_step(...):",
    "call": "train_step(..., argument)",
    "value": "\n    ...",
}


def trace(what: str, before: str, after: str, signature: tuple[str, ...] = (), cause="signature"):
    change = Change("argument", what, before, after)
    return Trace(
        2, "train_step", "train.py:41", 1.0, 0.5, cause, changes=(change,), signature=signature
    )


class Count:
    """Counts traces; a list would be an argument that the trace changes."""

    def __init__(self) -> None:
        self.number = 0

    def append(self, _value) -> None:
        self.number += 1

    def __len__(self) -> int:
        return self.number


def counting(calls: list):
    """A stage of a pipeline that notes each element it works on."""

    def stage(x):
        def note(value):
            calls.append(value)
            return value

        y = tf.numpy_function(note, [x], x.dtype)
        y.set_shape(x.shape)
        return y

    return stage


# -- retracing -------------------------------------------------------------------


def declares_the_signature(snippet: Snippet):
    def traces(side: str) -> int:
        body = "def train_step(x):\n    return tf.reduce_sum(x)"
        train_step = snippet.run(side, definition=body)["train_step"]
        for rows in (2, 3, 5, 7):
            assert float(train_step(tf.ones([rows, 4]))) == 4 * rows
        return train_step.experimental_get_tracing_count()

    assert traces("old") == 4
    assert traces("new") == 1


def one_trace_for_all(values: list, after: int, before: int, **namespace):
    """A check: calls with these arguments make `before` traces without and `after` with it."""

    def check(snippet: Snippet):
        counts = []
        for side in ("old", "new"):
            calls = Count()

            @tf.function
            def train_step(argument, calls=calls):
                calls.append(1)
                return tf.reduce_sum(tf.cast(argument, tf.float32)) if argument is not None else 0.0

            for value in values:
                names = {"argument": value, "train_step": train_step, **namespace}
                snippet.run(side, names, call="train_step(argument)")
            counts.append(len(calls))
        assert counts == [before, after]

    return check


def stacks(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()
        body = "def train_step(argument):\n    calls.append(1)\n    return tf.add_n(argument)"
        if side == "new":
            names = snippet.run(
                side,
                {"calls": calls, "argument": [tf.ones([2])] * 2},
                definition="def train_step(argument):",
                value="\n    calls.append(1); return tf.reduce_sum(argument, 0)",
                call="train_step(argument)",
            )
            for length in (3, 4, 5, 6):
                total = names["train_step"](tf.stack([tf.ones([2])] * length))
                assert total.numpy().tolist() == [length, length]
        else:
            names = {"tf": tf, "calls": calls}
            exec("@tf.function\n" + body, names)
            for length in (2, 3, 4, 5, 6):
                names["train_step"]([tf.ones([2])] * length)
        counts.append(len(calls))
    assert counts[0] == 5
    assert counts[1] <= 2


def keeps_one_object(snippet: Snippet):
    class Settings:
        scale = 2.0

    counts = []
    for side in ("old", "new"):
        calls = Count()

        @tf.function
        def train_step(x, argument, calls=calls):
            calls.append(1)
            return x * argument.scale

        snippet.run(
            side,
            {"train_step": train_step, "make_argument": Settings, "dataset": [tf.ones([2])] * 4},
        )
        counts.append(len(calls))
    assert counts == [4, 1]


def makes_the_function_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()

        def train_step(x, calls=calls):
            calls.append(1)
            return x + 1

        snippet.run(side, {"train_step": train_step, "dataset": [tf.ones([2])] * 4})
        counts.append(len(calls))
    assert counts == [4, 1]


def small_model():
    return tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])


def small_data(batches: int = 2):
    return tf.data.Dataset.from_tensors((tf.ones([2, 2]), tf.ones([2, 1]))).repeat(batches)


def compiles_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        functions = []
        model = small_model()
        fit = model.fit

        def fit_quietly(data, fit=fit, model=model, functions=functions):
            fit(data, verbose=0)
            functions.append(model.train_function)

        model.fit = fit_quietly
        snippet.run(side, {"model": model, "folds": [small_data(1)] * 2})
        counts.append(len({id(function) for function in functions}))
    assert counts == [2, 1]


def pads_to_few_lengths(snippet: Snippet):
    lengths = np.random.default_rng(1).integers(1, 128, 2000)

    def shapes(side: str) -> set:
        ds = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: tf.ones([n]))
        return {tuple(batch.shape) for batch in snippet.run(side, {"ds": ds})["ds"]}

    assert len(shapes("old")) > 10
    assert shapes("new") == {(32, 32), (32, 64), (32, 128)}


def keeps_batches_full(snippet: Snippet):
    def shapes(side: str) -> set:
        ds = tf.data.Dataset.range(70)
        return {tuple(batch.shape) for batch in snippet.run(side, {"ds": ds})["ds"]}

    assert shapes("old") == {(32,), (6,)}
    assert shapes("new") == {(32,)}


def generalises_shapes(snippet: Snippet):
    def traces(side: str) -> int:
        body = "def train_step(x):\n    return tf.reduce_sum(x)"
        train_step = snippet.run(side, definition=body)["train_step"]
        for rows in (2, 3, 5, 7):
            train_step(tf.ones([rows, 4]))
        return train_step.experimental_get_tracing_count()

    assert traces("old") == 4
    assert traces("new") == 2


def makes_the_dataset_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls, steps = Count(), []

        def scale(x, calls=calls):
            calls.append(1)
            return x / 2

        snippet.run(
            side,
            {"x": np.ones([128]), "scale": scale, "epochs": 3, "train_step": steps.append},
        )
        assert len(steps) == 6
        counts.append(len(calls))
    assert counts == [3, 1]


def calls_the_model(snippet: Snippet):
    model = small_model()
    x = tf.ones([3, 2])
    answer = snippet.run("new", {"model": model, "x": x})["y"]
    assert isinstance(answer, tf.Tensor)
    np.testing.assert_allclose(answer, model.predict(x, verbose=0), rtol=1e-5)


# -- input pipeline --------------------------------------------------------------


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

    ds = tf.data.Dataset.range(256).map(lambda x: tf.numpy_function(note, [x], tf.int64))
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


def repeats_inside(snippet: Snippet):
    steps: list = []
    snippet.run(
        "new",
        {"ds": tf.data.Dataset.range(128), "epochs": 3, "train_step": steps.append},
    )
    seen = np.concatenate([batch.numpy() for batch in steps])
    assert len(steps) == 6
    assert np.bincount(seen).tolist() == [3] * 128


# -- warm-up ---------------------------------------------------------------------


def caches_on_disk(snippet: Snippet, tmp_path):
    counts = []
    for _ in range(2):
        calls: list = []
        names = {"ds": tf.data.Dataset.range(5), "decode": counting(calls)}
        code = snippet.code.replace("cache/train", str(tmp_path / "train"))
        assert [int(x) for x in Snippet(code).run("new", names)["ds"]] == [0, 1, 2, 3, 4]
        counts.append(len(calls))
    assert counts == [5, 0]


def bounds_what_the_pipeline_holds(snippet: Snippet):
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(3)})["ds"]
    assert ds.options().autotune.ram_budget == 2**30
    assert [int(x) for x in ds] == [0, 1, 2]


def keeps_loops_in_the_graph(snippet: Snippet, tmp_path):
    sizes = []
    for side in ("old", "new"):
        # AutoGraph reads source, so the program must stand in a file.
        lines = [
            line[2:]
            for line in snippet.code.splitlines()
            if line[0] in (" ", {"old": "-", "new": "+"}[side])
        ]
        path = tmp_path / f"{side}.py"
        path.write_text("def f(x):\n    " + "\n    ".join(lines) + "\n    return x\n")
        names = {"tf": tf, "layer": lambda x: x * 1.5 + 1}
        exec(compile(path.read_text(), str(path), "exec"), names)
        graph = tf.function(names["f"]).get_concrete_function(tf.TensorSpec([2])).graph
        sizes.append(len(graph.get_operations()))
    assert sizes[0] > 200
    assert sizes[1] < 50


def creates_variables_before(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()

        @tf.function
        def train_step(x, calls=calls, model=model, optimizer=optimizer):
            calls.append(1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        snippet.run(
            side,
            {
                "model": model,
                "optimizer": optimizer,
                "input_shape": [None, 2],
                "dataset": [tf.ones([3, 2])],
                "train_step": train_step,
            },
        )
        counts.append(len(calls))
    assert counts == [2, 1]


# -- garbage collection ------------------------------------------------------------


def freezes_the_start(snippet: Snippet):
    try:
        snippet.run("new", {"train_step": lambda batch: None, "first_batch": 1})
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


# -- checkpoints -------------------------------------------------------------------


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


# -- callbacks ---------------------------------------------------------------------


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


# -- graph growth, kept tensors, Python ----------------------------------------------


def v1_names(v1):
    x = v1.placeholder(tf.float32, [2])
    return {"x": x, "y": tf.constant([1.0, 1.0]), "model": lambda x: 2 * x, "loss": 3 * x}


def builds_operations_once(snippet: Snippet):
    growth = []
    v1 = tf.compat.v1
    for side in ("old", "new"):
        with tf.Graph().as_default() as graph, v1.Session() as sess:
            names = v1_names(v1)
            sizes = []

            class Batches:
                def __iter__(self, graph=graph, sizes=sizes):
                    for _ in range(4):
                        sizes.append(len(graph.get_operations()))
                        yield [1.0, 2.0]
                    sizes.append(len(graph.get_operations()))

            done = snippet.run(side, {**names, "sess": sess, "batches": Batches()})
            assert done["value"] == pytest.approx(5.0)
            growth.append(sizes[-1] - sizes[0])
    assert growth[0] >= 12
    assert growth[1] == 0


def finalizes_the_graph(snippet: Snippet):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        names = v1_names(v1)
        done = snippet.run("new", {**names, "sess": sess, "batches": [[1.0, 2.0]]})
        assert done["value"].tolist() == [3.0, 6.0]
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)


def moves_into_a_function(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for _ in range(3):
        assert float(train_step(tf.constant([1.0, 3.0]))) == 5.0
    assert train_step.experimental_get_tracing_count() == 1


def keeps_a_window(snippet: Snippet):
    sizes = []
    for side in ("old", "new"):
        history = tf.zeros([0, 2])
        for _ in range(3):
            names = {"history": history, "batch": tf.ones([600, 2])}
            history = snippet.run(side, names)["history"]
        sizes.append(len(history))
    assert sizes == [1_800, 1_000]


def keeps_numbers(snippet: Snippet):
    losses: list = []
    snippet.run("new", {"losses": losses, "loss": tf.constant(2.0)})
    assert losses == [2.0]
    assert type(losses[0]) is float


def opens_a_tape_for_each_step(snippet: Snippet):
    done = snippet.run("new", {"w": tf.Variable(2.0), "dataset": [tf.ones([2])] * 3})
    assert float(done["gradient"]) == 4.0


def keeps_a_running_sum(snippet: Snippet):
    total = 0.0
    for step, loss in enumerate([1.0, 2.0, 6.0]):
        done = snippet.run("new", {"total": total, "step": step, "loss": loss})
        total = done["total"]
    assert done["mean"] == 3.0


def bounds_the_buffer(snippet: Snippet):
    replay = snippet.run("new")["replay"]
    replay.extend(range(20_000))
    assert len(replay) == 10_000
    assert replay[0] == 10_000


# -- machine, optimizer, gradients, XLA ------------------------------------------------


def limits_threads(snippet: Snippet):
    # Allowed before TensorFlow's first operation only, so it runs in a process of its own.
    lines = [line[2:] for line in snippet.code.splitlines()]
    program = "\n".join(
        [
            "import tensorflow as tf",
            *lines,
            "tf.constant(1.0)",
            "print(tf.config.threading.get_intra_op_parallelism_threads())",
            "print(tf.config.threading.get_inter_op_parallelism_threads())",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["4", "2"]


def limits_threads_of_the_pipeline(snippet: Snippet):
    ds = snippet.run("new", {"ds": tf.data.Dataset.range(3)})["ds"]
    assert ds.options().threading.private_threadpool_size == 2
    assert [int(x) for x in ds] == [0, 1, 2]


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
        model = snippet.run("new", {"make_model": small_model})["model"]
        assert model.layers[0].compute_dtype == "float16"
        assert model.layers[0].kernel.dtype == "float32"
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


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


def leaves_xla(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for rows in (2, 3, 5, 7):
        assert float(train_step(2 * tf.ones([rows]))) == 4 * rows
    assert train_step.experimental_get_tracing_count() == 2


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


def reads_the_file_once(snippet: Snippet, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4))
    old, new = (snippet.run(side, {"path": path})["x"] for side in ("old", "new"))
    assert isinstance(old, np.memmap)
    assert type(new) is np.ndarray
    assert new.tolist() == old.tolist() == [0, 1, 2, 3]


# -- devices, disks, shapes ------------------------------------------------------------


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


def brings_images_to_one_size(snippet: Snippet):
    def decode(side):
        return tf.ones([side, 10, 3])

    ds = snippet.run("new", {"ds": tf.data.Dataset.from_tensor_slices([8, 300]), "decode": decode})
    assert [image.shape for image in ds["ds"]] == [(224, 224, 3)] * 2


def copies_ahead(snippet: Snippet):
    names = {"ds": tf.data.Dataset.range(128), "device": "/cpu:0"}
    ds = snippet.run("new", names)["ds"]
    assert [len(batch) for batch in ds] == [64, 64]


def copies_bytes(snippet: Snippet):
    done = snippet.run("new")
    assert float(done["train_step"](tf.constant([0, 255], tf.uint8))) == 0.5


def reads_rarely(snippet: Snippet):
    losses: list = []
    names = {"losses": losses, "dataset": range(201), "train_step": tf.constant}
    snippet.run("new", names)
    assert losses == [0.0, 100.0, 200.0]


def skips_the_optimiser(snippet: Snippet):
    try:
        snippet.run("new")
        assert tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"] is True
        assert float(tf.function(lambda x: 2 * x + 1)(tf.constant(3.0))) == 7.0
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def prints_one_line_an_epoch(snippet: Snippet, capsys):
    model = small_model()
    model.compile("sgd", "mse")
    snippet.run("new", {"model": model, "ds": small_data(3)})
    assert capsys.readouterr().out.count("loss:") == 20


FLOATS = trace("python_number", "Python float 0.1", "Python float 0.2")
INTS = trace("python_number", "Python int 1", "Python int 2")
STRINGS = trace("python_value", "string, 4 characters", "string, 5 characters")
TENSOR_F32, TENSOR_F64 = tf.ones([2]), tf.ones([2], tf.float64)

CASES = {
    # (advice, words that its text begins with): what must hold
    "declare": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)", (SPEC,))),
        "At train.py:41, declare",
        declares_the_signature,
    ),
    "float": (
        retracing.advise(FLOATS),
        "Pass a tensor",
        one_trace_for_all([0.1, 0.2, 0.3], after=1, before=3),
    ),
    "int": (
        retracing.advise(INTS),
        "Pass a tensor",
        one_trace_for_all([1, 2, 3], after=1, before=3),
    ),
    "value": (
        retracing.advise(STRINGS),
        "Pass a tensor",
        one_trace_for_all([True, False], after=1, before=2),
    ),
    "dtype": (
        retracing.advise(trace("dtype", "float32", "float64")),
        "Cast",
        one_trace_for_all([TENSOR_F32, TENSOR_F64], after=1, before=2),
    ),
    "none": (
        retracing.advise(trace("none", "None", "tensor float32 (2,)")),
        "Pass a tensor",
        one_trace_for_all([None, TENSOR_F32, None], after=1, before=2, batch_size=2),
    ),
    "structure": (
        retracing.advise(trace("structure", "list of 2", "list of 3")),
        "Pass `argument` as one",
        stacks,
    ),
    "object": (
        retracing.advise(trace("python_object", "Settings object", "Settings object, a new")),
        "Keep one object",
        keeps_one_object,
    ),
    "hoist": (
        retracing.advise(trace("shape", "", "", cause="new_object")),
        "Make the `tf.function`",
        makes_the_function_once,
    ),
    "keras": (
        retracing.advise(
            Trace(1, "Keras train step", "fit.py:3", 1.0, 1.0, "new_object", changes=())
        ),
        "Call `compile()` once",
        compiles_once,
    ),
    "pad": (
        retracing.advise(trace("shape", "(2, 4)", "(2, 5)")),
        "Pad to a few",
        pads_to_few_lengths,
    ),
    "full": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Keep every batch full",
        keeps_batches_full,
    ),
    "reduce": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Let TensorFlow generalise",
        generalises_shapes,
    ),
    "dataset": (retraced_functions.repeated_setup(), "Make the dataset once", makes_the_dataset_once),
    "predict": (retraced_functions.repeated_setup(), "Call the model", calls_the_model),
    "parallel": (
        input_pipeline.on_every_step(),
        "Let the slow stage",
        runs_the_stage_in_parallel,
    ),
    "prefetch": (
        input_pipeline.on_every_step(),
        "Prepare the next",
        prepares_the_next_batch,
    ),
    "cache": (input_pipeline.on_every_step(), "Keep what is", caches_before_randomness),
    "interleave": (input_pipeline.on_every_step(), "Read several", interleaves_files),
    "batch": (input_pipeline.on_every_step(), "Work on whole", works_on_batches),
    "parallel batch": (
        input_pipeline.on_every_step("BatchV2#2"),
        "Put batches",
        batches_in_parallel,
    ),
    "generator": (
        input_pipeline.on_every_step("Generator#4"),
        "Make the elements",
        slices_what_fits,
    ),
    "buffer": (input_pipeline.at_epoch_starts(), "Make the shuffle buffer", fills_less),
    "early": (input_pipeline.at_epoch_starts(), "Shuffle before", shuffles_before_the_work),
    "repeat": (input_pipeline.at_epoch_starts(), "Repeat inside", repeats_inside),
    "on disk": (warm_up.first_pass(fills=False, reads=None), "Keep the decoded", caches_on_disk),
    "loops": ((warm_up.roll_loops(),), "If a Python loop", keeps_loops_in_the_graph),
    "variables": ((warm_up.create_variables_once(),), "Create variables", creates_variables_before),
    "freeze": (garbage_collection.advise(forced=False), "Take the start-up", freezes_the_start),
    "schedule": (
        garbage_collection.advise(forced=False),
        "Collect at a time",
        collects_once_an_epoch,
    ),
    "fewer objects": (
        garbage_collection.advise(forced=False),
        "Keep fewer",
        keeps_numbers_in_an_array,
    ),
    "forced": (
        garbage_collection.advise(forced=True),
        "Look for a `gc.collect()`",
        collects_after_the_loop,
    ),
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
    "once": (graph_growth.advise(), "Build every", builds_operations_once),
    "finalize": (graph_growth.advise(), "Finalize", finalizes_the_graph),
    "function": (graph_growth.advise(), "Or move", moves_into_a_function),
    "window": (tensor_retention.advise(), "Keep a window", keeps_a_window),
    "numbers": (tensor_retention.advise(), "Keep numbers", keeps_numbers),
    "tape": (tensor_retention.advise(), "Open one", opens_a_tape_for_each_step),
    "sum": (python_overhead.advise(), "Keep a running sum", keeps_a_running_sum),
    "cache on disk": (host_memory.advise(), "Put the cache on disk", caches_on_disk),
    "read once": (host_memory.advise(full=False), "Read a mapped", reads_the_file_once),
    "bounded": (host_memory.advise(), "Bound what", bounds_what_the_pipeline_holds),
    "threads": (
        cpu_contention.advise(throttled=False),
        "Make no more threads",
        limits_threads,
    ),
    "pipeline threads": (
        cpu_contention.advise(throttled=True),
        "Give the input pipeline",
        limits_threads_of_the_pipeline,
    ),
    "optimizer": (
        optimizer_state.advise(made=True),
        "Make the optimizer once",
        makes_the_optimizer_once,
    ),
    "accumulate": (communication.advise(), "Accumulate gradients", really_accumulates),
    "stop gradient": (backward_pass.advise(), "Stop the gradient", stops_the_gradient),
    "half": (backward_pass.advise(), "Compute in half", computes_in_half_precision),
    "capture": (profiling.advise(), "Capture a few", captures_a_few_steps),
    "xla": (xla_compilation.advise(), "Leave the part", leaves_xla),
    "small batches": (
        gpu_memory.advise(),
        "Make the batch smaller",
        makes_small_batches_of_large_updates,
    ),
    "pool": (gpu_memory.advise(), "Let CUDA manage", asks_for_the_pool_of_cuda),
    "growth": (gpu_memory.advise(), "Where other programs", grows_the_memory_of_each_device),
    "append": (disk.advise(grows=True), "Append what", appends_what_is_new),
    "local": (disk.advise(), "Write to a local", copies_when_the_save_is_done),
    "old": (disk.advise(), "Delete checkpoints", deletes_old_checkpoints_when_told),
    "temporary": (disk.advise(), "Put temporary", leaves_no_temporary_files),
    "one size": (shape_churn.advise(), "Bring images", brings_images_to_one_size),
    "ahead": (host_device_transfer.advise(), "Copy the next", copies_ahead),
    "bytes": (host_device_transfer.advise(), "Copy images", copies_bytes),
    "rarely": (host_device_transfer.advise(), "Read values", reads_rarely),
    "grappler": ((warm_up.skip_optimisation(),), "Let Grappler", skips_the_optimiser),
    "one line": (
        callbacks.advise("callback", "ProgbarLogger", grows=False),
        "Print one line",
        prints_one_line_an_epoch,
    ),
    "compile": (python_overhead.advise(eager=True), "Make the step", moves_into_a_function),
    "hot": (thermal.advise(hot=True), "Cool", None),
    "power": (thermal.advise(hot=False), "Raise", None),
    "ring": (python_overhead.advise(), "Bound the buffer", bounds_the_buffer),
}


def pick(advice: tuple[Advice, ...], beginning: str) -> Advice:
    (found,) = (each for each in advice if each.text.startswith(beginning))
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    advice, beginning, check = CASES[case]
    if check is None:  # it has no code
        assert not pick(advice, beginning).code
        return
    wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
    fixtures = {name: request.getfixturevalue(name) for name in wanted if name != "snippet"}
    check(snippet=Snippet(pick(advice, beginning).code), **fixtures)


def test_every_advice_with_code_has_a_case():
    tried = {pick(advice, beginning).text for advice, beginning, _ in CASES.values()}
    known = {each.text for advice, _, _ in CASES.values() for each in advice if each.code}
    assert known - tried == set()


def test_every_advice_has_a_price_and_begins_with_a_verb():
    for advice, _, _ in CASES.values():
        for each in advice:
            assert each.price or not each.code
            assert each.text[0].isupper()
            assert each.text.endswith(".")

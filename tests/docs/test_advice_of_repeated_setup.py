"""Datasets, iterators and models that are made again and again: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import MARKS, CaseOfAdvice, Count, Snippet, check_all, check_case, small_model

from tb_slowdown_plugin.analysis.causes.common import recreated_objects
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import RepeatedSetup

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


FROM_ARRAYS = "keras/src/trainers/data_adapters/array_data_adapter.py:202"


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


def traces_no_iterator_again(snippet: Snippet):
    from tensorflow.python.data.ops import multi_device_iterator_ops

    made, kind = [], multi_device_iterator_ops.OwnedMultiDeviceIterator
    make = kind.__init__
    counts = []
    for side in ("old", "new"):
        strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        ds = tf.data.Dataset.from_tensor_slices((np.zeros((64, 2)), np.zeros((64, 1)))).batch(8)
        made.clear()

        def begin(*args, **kw):
            if kw.get("components") is None:  # else it is the same one, inside a function
                made.append(1)
            return make(*args, **kw)

        kind.__init__ = begin
        try:
            names = snippet.run(side, {"model": model, "ds": ds, "epochs": 3})
        finally:
            kind.__init__ = make
        assert names["model"].history.epoch == [0, 1, 2]
        counts.append(len(made))
    assert counts[0] >= 3
    assert counts[1] <= 2, "one to build the model, one for all epochs"


def in_a_loop(made: str, expected: list[int]):
    """A check: a loop over a distributed dataset makes so many of something, before and after."""

    def check(snippet: Snippet, monkeypatch):
        from tensorflow.python.data.ops import multi_device_iterator_ops
        from tensorflow.python.distribute import input_lib

        kinds = {
            "iterators": multi_device_iterator_ops.OwnedMultiDeviceIterator,
            "datasets": input_lib.DistributedDataset,
        }
        calls, kind = [], kinds[made]
        make = kind.__init__
        monkeypatch.setattr(
            kind, "__init__", lambda *args, **kw: (calls.append(1), make(*args, **kw))[1]
        )
        counts = []
        for side in ("old", "new"):
            steps: list = []
            calls.clear()
            strategy = tf.distribute.MirroredStrategy(["CPU:0"])
            names = {"strategy": strategy, "epochs": 3, "train_step": steps.append}
            snippet.run(side, {**names, "ds": tf.data.Dataset.range(16).batch(4)})
            assert [step.numpy()[0] for step in steps] == [0, 4, 8, 12] * 3
            counts.append(len(calls))
        assert counts == expected

    return check


def makes_no_dataset_of_arrays(snippet: Snippet, monkeypatch):
    made, make = [], tf.data.Dataset.from_tensors
    monkeypatch.setattr(
        tf.data.Dataset, "from_tensors", lambda *args, **kw: (made.append(1), make(*args, **kw))[1]
    )
    counts = []
    for side in ("old", "new"):
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        made.clear()
        x, y = np.zeros((64, 2), "float32"), np.zeros((64, 1), "float32")
        snippet.run(side, {"model": model, "x": x, "y": y, "epochs": 3})
        counts.append(len(made))
    assert counts[0] >= 3
    assert counts[1] == 0


def calls_the_model(snippet: Snippet):
    model = small_model()
    x = tf.ones([3, 2])
    answer = snippet.run("new", {"model": model, "x": x})["y"]
    assert isinstance(answer, tf.Tensor)
    np.testing.assert_allclose(answer, model.predict(x, verbose=0), rtol=1e-5)


def predicts_on_a_batch(snippet: Snippet):
    model = small_model()
    x = np.ones([3, 2], np.float32)
    answers = [snippet.run(side, {"model": model, "x": x})["y"] for side in ("old", "new")]
    assert all(isinstance(answer, np.ndarray) for answer in answers)
    np.testing.assert_allclose(*answers, rtol=1e-5)


def trains_on_a_batch(snippet: Snippet):
    x, y = np.ones([8, 2], np.float32), np.full([8, 1], 3.0, np.float32)
    weights = []
    for side in ("old", "new"):
        model = small_model()
        model.set_weights([np.zeros_like(each) for each in model.get_weights()])
        model.compile("sgd", "mse")
        names = snippet.run(side, {"model": model, "x": x, "y": y})
        weights.append(model.get_weights())
    for old, new in zip(*weights, strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-6)
    model = names["model"]
    second = float(model.train_on_batch(x, y))
    model.reset_metrics()
    assert float(model.test_on_batch(x, y)) < second, "it was the mean of both batches"


CASES: dict[str, CaseOfAdvice] = {
    "dataset": (
        recreated_objects.repeated_setup(RepeatedSetup()),
        "Create the dataset once",
        makes_the_dataset_once,
    ),
    "devices": (
        (recreated_objects.repeat_in_fit(),),
        "Repeat inside the pipeline, and pass",
        traces_no_iterator_again,
    ),
    "devices in a loop": (
        (recreated_objects.iterate_once(),),
        "Repeat inside the pipeline, and create",
        in_a_loop("iterators", [3, 1]),
    ),
    "distributed in a loop": (
        (recreated_objects.distribute_once(),),
        "Distribute the dataset once",
        in_a_loop("datasets", [3, 1]),
    ),
    "arrays": (
        (recreated_objects.hand_over_a_dataset(),),
        "Pass `fit`",
        makes_no_dataset_of_arrays,
    ),
    "predict": (
        recreated_objects.instead_of("predict"),
        "Call `model(x, training=False)`",
        calls_the_model,
    ),
    "train": (
        recreated_objects.repeated_setup(RepeatedSetup(frozenset({FROM_ARRAYS}))),
        "Call `train_on_batch`",
        trains_on_a_batch,
    ),
    "one batch": (recreated_objects.instead_of("predict"), "Or use", predicts_on_a_batch),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)

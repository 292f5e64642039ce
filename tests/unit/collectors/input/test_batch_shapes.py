"""Batch shapes of what `model.fit` is given besides datasets."""

import sys

import numpy as np
import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.input.batch_shapes import (
    BatchShapes,
    KerasBatches,
)
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.fixture
def collector(recording):
    collector = BatchShapes()
    collector.start(recording.context)
    yield collector
    collector.stop()
    assert recording.failures == []


def model():
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


def told(recording):
    return [fact.subject for fact in recording.of(Fact) if fact.name == "batch_shape"]


class Growing(keras.utils.PyDataset):
    """Batches of 2, 3 and 4."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return np.zeros((2 + index, 5)), np.zeros((2 + index, 1))


def test_each_batch_of_a_py_dataset_is_seen(recording, collector):
    model().fit(Growing(), verbose=0, shuffle=False)
    assert set(told(recording)) == {"(2, 5), (2, 1)", "(3, 5), (3, 1)", "(4, 5), (4, 1)"}
    assert collector.read() == {"batch_shapes": 3}


def test_the_workers_of_a_py_dataset_are_told_when_they_change(recording, collector):
    assert collector.name == "batch_shapes"
    for workers in (1, 1, 3):
        model().fit(Growing(workers=workers), verbose=0, shuffle=False)
    recording.stopwatch.open("validation")
    model().fit(Growing(workers=2), verbose=0, shuffle=False)
    recording.stopwatch.close()
    told = [fact for fact in recording.of(Fact) if fact.name == "py_dataset"]
    (place,) = {fact.subject for fact in told}
    line = Growing.__getitem__.__code__.co_firstlineno
    assert place.startswith("Growing.__getitem__ (")
    assert place.endswith(f"test_batch_shapes.py:{line})")
    facts = [fact.numbers for fact in told]
    assert facts == [{"workers": 1}, {"workers": 3}]


def test_arrays_have_full_batches_and_a_last_one(recording, collector):
    for _ in range(2):
        model().fit(np.zeros((10, 5)), np.zeros((10, 1)), batch_size=4, verbose=0)
    assert told(recording) == ["(4, 5), (4, 1)", "(2, 5), (2, 1)"]


def test_validation_has_its_own(recording, collector):
    recording.stopwatch.open("validation")
    model().fit(np.zeros((8, 5)), np.zeros((8, 1)), batch_size=4, verbose=0)
    recording.stopwatch.close()
    assert told(recording) == []


def test_keras_gets_its_methods_back_and_may_have_none_of_them(monkeypatch):
    from keras.src.trainers.data_adapters import py_dataset_adapter

    batches = KerasBatches(*[pytest.fail] * 5)
    batches.start()
    assert len(hooked_by("batch_shapes")) == 2
    batches.stop()
    assert hooked_by("batch_shapes") == []
    monkeypatch.delattr(py_dataset_adapter, "PyDatasetAdapter")
    monkeypatch.setitem(sys.modules, "keras.src.trainers.data_adapters.array_data_adapter", None)
    batches.start()
    batches.stop()


def padded_words(rows):
    """Texts of 5 to 20 words, in 64 columns."""
    lengths = 5 + np.arange(rows) % 16
    return np.where(np.arange(64) < lengths[:, None], 1 + np.arange(64), 0).astype(np.int32)


@pytest.mark.parametrize("given", ["arrays", "batches of a loop"])
def test_batches_that_are_mostly_padding_are_told(recording, collector, given):
    words, labels = padded_words(96), np.zeros((96, 4))
    dataset = tf.data.Dataset.from_tensor_slices((words, labels)).batch(32)
    net = keras.Sequential([keras.layers.Embedding(80, 4), keras.layers.GlobalMaxPooling1D()])
    net.compile("sgd", "mse")
    if given == "arrays":
        net.fit(words, labels, verbose=0)
    else:
        list(dataset)
    collector.look_once()
    facts = [fact for fact in recording.of(Fact) if fact.name == "padded_batch"]
    assert facts[-1].numbers["columns"] == 64
    assert facts[-1].numbers["used"] == pytest.approx(20, abs=1)

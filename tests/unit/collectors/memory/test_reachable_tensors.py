"""What keeps tensors is found from the variables of the training thread on, with its line."""

from __future__ import annotations

import collections
import sys
import threading
import types

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.reachable_tensors import ReachableTensors

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

HERE = "test_reachable_tensors.py"
KIBIBYTE = tf.zeros((16, 16))


class Bank:
    def __init__(self):
        self.rows = tf.zeros((4, 8))

    def add(self):
        self.rows = tf.concat([self.rows, self.rows], axis=0)


class Agent:
    def __init__(self):
        self.memory = collections.deque(maxlen=50_000)
        self.banks = {"past": Bank()}
        self.arrays = [np.zeros(3) for _ in range(50)]

    def push(self, count):
        for number in range(count):
            self.memory.append((tf.zeros((5,)), number, np.zeros(3)))


class Rows(np.recarray):
    """An array of the program's own class."""


class Recorder(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.kept = []

    def on_train_batch_end(self, batch, logs=None):
        self.kept.append(tf.zeros((300,)))


@pytest.fixture
def find(monkeypatch, root):
    from tensorflow.python.framework import ops

    monkeypatch.chdir(root)
    reachable = ReachableTensors(ops.EagerTensor, SourcePlaces.of_process())

    def find(most=9):
        found = reachable.find(threading.get_ident(), {}, most)
        return {each.holder.text.partition(" of ")[0]: each for each in found}

    return find


def test_attributes_of_the_programs_objects_are_named_with_what_adds_to_them(find):
    agent = Agent()
    agent.banks["past"].add()
    agent.push(700)
    found = find()
    memory, rows = found["deque `memory`"], found["`rows`"]
    assert (memory.tensors.count, memory.tensors.size_bytes, memory.tensors.kind) == (
        700,
        700 * 20,
        "float32 (5,)",
    )
    assert memory.holder.text == "deque `memory` of Agent"
    assert memory.holder.place.startswith("Agent.push (")
    assert (rows.tensors.count, rows.tensors.size_bytes, rows.tensors.kind) == (
        1,
        8 * 8 * 4,
        "float32 (8, 8)",
    )
    line = Bank.add.__code__.co_firstlineno + 1
    assert rows.holder.place.endswith(f"{HERE}:{line})")


def test_of_a_long_list_a_part_stands_for_the_whole(find):
    losses = [KIBIBYTE + number for number in range(9_000)]
    losses[4_503] = tf.zeros((1024, 1024))
    held = find()["list `losses`"]
    assert held.tensors.count == pytest.approx(len(losses), rel=0.001)
    assert held.tensors.size_bytes == pytest.approx(len(losses) * 1024, rel=0.001)


def test_a_tensor_that_is_there_many_times_counts_once(find):
    large, small = tf.zeros((512, 512)), [KIBIBYTE + number for number in range(5)]
    memory = [(large, each) for each in small] * 20
    held = find()["list `memory`"]
    assert (held.tensors.count, held.tensors.size_bytes) == (6, 2**20 + 5 * 1024)
    assert len(memory) == 100


def test_a_long_list_beside_a_large_tensor_does_not_multiply_it(find):
    logs = {"kernels": [tf.zeros((512, 512))], "loss": [tf.constant(1.0 * n) for n in range(5000)]}
    held = find()["dict `logs`"]
    assert held.tensors.size_bytes == pytest.approx(2**20 + 5000 * 4, rel=0.01)
    assert len(logs) == 2


def test_a_part_that_has_a_name_of_its_own_counts_in_the_whole_too(find):
    splits = {"train": [KIBIBYTE + 1] * 1, "test": [KIBIBYTE + 2, KIBIBYTE + 3]}

    def train(data):
        return find(), len(data)

    found, _ = train(splits["test"])
    assert found["dict `splits`"].tensors.count == 3


def test_a_dictionary_of_lists_counts_under_its_own_name(find):
    logs = {name: [KIBIBYTE + number for number in range(40)] for name in ("loss", "accuracy")}
    held = find()["dict `logs`"]
    assert (held.tensors.count, held.tensors.size_bytes) == (80, 80 * 1024)
    assert len(logs) == 2


def test_the_programs_callback_is_found_in_what_keras_has_it_in(find):
    found = {}

    class Look(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            found.update(find())

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.zeros((64, 2), np.float32)
    model.fit(data, data[:, :1], batch_size=2, verbose=0, callbacks=[Recorder(), Look()])
    held = found["list `kept`"]
    assert held.holder.text == "list `kept` of Recorder"
    assert held.tensors.count >= 30
    line = Recorder.on_train_batch_end.__code__.co_firstlineno + 1
    assert held.holder.place.endswith(f"{HERE}:{line})")


def test_a_module_of_the_program_is_looked_at(find, tmp_path, monkeypatch):
    (tmp_path / "ledger.py").write_text(
        "history = []\ndef note(value, look):\n    history.append(value)\n"
        "    del value\n    return look()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import ledger  # type: ignore[import-not-found]

    for _ in range(5):
        found = ledger.note(KIBIBYTE + 1, find)
    held = found["list `history`"]
    assert (held.tensors.count, held.tensors.size_bytes) == (5, 5 * 1024)
    assert held.holder.place.endswith("ledger.py:3)")
    del sys.modules["ledger"]


def test_nothing_else_is_referred_to_or_asked(find):
    class Quiet(types.SimpleNamespace):
        def __getattribute__(self, name):
            raise AssertionError(name)

        def __len__(self):
            raise AssertionError

    array = np.zeros(4)
    rows = np.zeros(4).view(Rows)
    counts = sys.getrefcount(rows)
    quiet = Quiet(kept=[KIBIBYTE + 1])
    before = sys.getrefcount(array)
    found = find()
    assert found["list `kept`"].tensors.count == 1
    assert (sys.getrefcount(array), sys.getrefcount(rows)) == (before, counts)
    array.resize(8)
    assert object.__getattribute__(quiet, "__dict__")


def test_only_so_many_names_are_given(find):
    first, second, third = [KIBIBYTE + 1] * 3, [KIBIBYTE + 2] * 2, [KIBIBYTE + 3]
    assert len(find(2)) == 2
    assert len(first) + len(second) + len(third) == 6

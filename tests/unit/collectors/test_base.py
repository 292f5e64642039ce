"""Which Keras a program uses, and what is not seen where it computes with another backend."""

import sys
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.collectors import (
    base as keras_module,
)
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.records.types import CollectorState
from tb_slowdown_plugin.writer.sampling.collection import Collection


def keras_on(backend):
    return SimpleNamespace(backend=SimpleNamespace(backend=lambda: backend))


@pytest.fixture
def modules(monkeypatch):
    for name in ("keras", "tf_keras"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    return lambda name, module: monkeypatch.setitem(sys.modules, name, module)


def test_without_keras_there_is_nothing_to_hook(modules):
    with pytest.raises(Unavailable, match="not imported"):
        keras_module.find_keras()
    assert keras_module.other_backend() is None


@pytest.mark.parametrize(("variable", "found"), [("1", "tf_keras"), ("0", "keras")])
def test_legacy_keras_is_hooked_where_it_is_tf_keras(modules, monkeypatch, variable, found):
    modules("keras", "keras")
    modules("tf_keras", "tf_keras")
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", variable)
    assert keras_module.find_keras() == found


@pytest.mark.parametrize(
    ("backend", "title"), [("tensorflow", None), ("jax", "JAX"), ("torch", "PyTorch"), ("x", "x")]
)
def test_the_backend_is_named(modules, backend, title):
    modules("keras", keras_on(backend))
    assert keras_module.other_backend() == title


def test_a_keras_that_is_being_imported_has_no_backend_yet(modules):
    modules("keras", SimpleNamespace())
    assert keras_module.other_backend() is None


def test_calls_of_a_second_keras_are_not_said_to_be_measured(modules, monkeypatch):
    running = CollectorState("evaluations", "running", "")
    assert keras_module.beside_legacy(running) == running
    modules("tf_keras", SimpleNamespace())
    reason = "calls of tf_keras are measured only with TF_USE_LEGACY_KERAS=1"
    partly = CollectorState("evaluations", "running", reason)
    assert keras_module.beside_legacy(running) == partly
    tapes = CollectorState("tapes", "running", "")
    assert keras_module.beside_legacy(tapes) == tapes
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    assert keras_module.beside_legacy(running) == running


class Idle:
    def __init__(self, name, caveat=""):
        self.name = name
        self.caveat = caveat

    def start(self, context):
        pass

    def stop(self):
        pass


def test_no_signal_of_tensorflow_is_measured_on_another_backend_also_one_chosen_later(
    modules, recording
):
    names = ("tracing", "graph_size", "allocator", "input_wait", "gc")
    collection = Collection(map(Idle, names), [], lambda *_: None)
    collection.start(recording.context)
    assert {state.status for state in collection.states()} == {"running"}
    modules("keras", keras_on("jax"))
    unseen = "not measured here: Keras runs on JAX"
    assert collection.states() == (
        CollectorState("tracing", "unavailable", unseen),
        CollectorState("graph_size", "unavailable", unseen),
        CollectorState("allocator", "unavailable", unseen),
        CollectorState(
            "input_wait", "running", "only tf.data pipelines are measured: Keras runs on JAX"
        ),
        CollectorState("gc", "running", ""),
    )
    collection.stop()

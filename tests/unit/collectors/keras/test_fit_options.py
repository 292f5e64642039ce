"""What is on already in a real `fit` is recorded, and tells advice to stay away."""

import numpy as np
import pytest
from unit.analysis.conftest import make_run

from tb_slowdown_plugin.analysis.causes.common.programs.program import Board, Program
from tb_slowdown_plugin.collectors.keras.fit_options import describe_fit
from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")


@pytest.fixture
def half_precision():
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    yield
    keras.mixed_precision.set_global_policy("float32")


def compiled(**options):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    return model


def program_of(facts):
    return Program.of(make_run(np.full(10, 0.1), events=[(0, fact) for fact in facts]))


def test_several_steps_a_call_and_a_quiet_board_are_told(tmp_path):
    board = keras.callbacks.TensorBoard(str(tmp_path))
    facts = list(describe_fit(compiled(steps_per_execution=8), [keras.callbacks.History(), board]))
    program = program_of(facts)
    assert program.steps_per_execution == 8
    assert program.board == Board(histograms=False, batches=False, profiles=False)
    assert program.board.is_quiet
    assert not program.half_precision


@pytest.mark.parametrize(
    ("options", "board"),
    [
        ({"histogram_freq": 1}, Board(histograms=True, batches=False, profiles=False)),
        ({"update_freq": "batch"}, Board(histograms=False, batches=True, profiles=False)),
        ({"profile_batch": (10, 20)}, Board(histograms=False, batches=False, profiles=True)),
    ],
)
def test_what_a_board_of_the_programs_own_class_does_is_told(tmp_path, options, board):
    class Mine(keras.callbacks.TensorBoard):
        pass

    facts = describe_fit(compiled(), [Mine(str(tmp_path), **options)])
    assert program_of(facts).board == board


def test_the_methods_of_the_programs_own_callbacks_have_places():
    class Plotter(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            pass

    line = Plotter.on_epoch_end.__code__.co_firstlineno
    told = [
        fact.subject
        for fact in describe_fit(compiled(), [keras.callbacks.History(), Plotter()])
        if fact.name == "callback_at"
    ]
    (subject,) = told
    account, place = subject.split(" ", 1)
    assert account == "callback:Plotter"
    assert place.endswith(f"on_epoch_end (tests/unit/collectors/keras/test_fit_options.py:{line})")


def test_of_a_run_without_such_facts_nothing_counts_as_on():
    program = program_of([])
    assert (program.steps_per_execution, program.half_precision) == (1, False)
    assert program.board == Board()


@pytest.mark.usefixtures("half_precision")
def test_half_precision_is_told_of_a_fit_and_of_other_loops(recording):
    assert program_of(describe_fit(compiled(), [])).half_precision
    collector = Optimizers()
    collector.start(recording.context)
    for _ in range(2):
        keras.optimizers.SGD()
    collector.stop()
    told = [fact for fact in recording.of(Fact) if fact.name == "half_precision"]
    assert told == [Fact("half_precision", "", {})]


def test_asking_for_the_precision_decides_nothing(recording, monkeypatch):
    from keras.src.backend.common import global_state

    monkeypatch.setattr(global_state.GLOBAL_STATE_TRACKER, "dtype_policy", None, raising=False)
    collector = Optimizers()
    collector.start(recording.context)
    keras.optimizers.SGD()
    collector.stop()
    assert global_state.get_global_attribute("dtype_policy") is None
    assert recording.of(Fact) == []


@pytest.mark.parametrize("eager", [True, False])
def test_a_fit_that_runs_eagerly_is_told(eager):
    facts = describe_fit(compiled(run_eagerly=eager), [])
    told = [dict(fact.numbers) for fact in facts if fact.subject == "keras_run_eagerly"]
    assert told == ([{"on": 1.0}] if eager else [])

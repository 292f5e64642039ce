"""The lines that make Keras's own callbacks."""

import gc
import inspect
import weakref

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.catalog.events import CALLBACK_AT, CALLBACK_MADE_AT
from tb_slowdown_plugin.collectors.keras.callback_lines import CallbackLines, line_of
from tb_slowdown_plugin.collectors.keras.fit_options import describe_fit

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")

HERE = "tests/unit/collectors/keras/test_callback_lines.py"


@pytest.fixture
def lines(traced):
    collector = CallbackLines()
    collector.start(traced.context)
    yield collector
    collector.stop()


def test_a_callback_has_the_line_that_made_it_and_a_later_fit_tells_it(lines, tmp_path):
    line = inspect.currentframe().f_lineno + 1
    saver = keras.callbacks.ModelCheckpoint(str(tmp_path / "last.keras"))
    assert line_of(saver) == f"{HERE}:{line}"
    told = {each.subject for each in describe_fit(None, [saver]) if each.name == CALLBACK_MADE_AT}
    assert told == {f"checkpoint:ModelCheckpoint {HERE}:{line}"}


def test_a_callback_of_the_program_keeps_the_place_of_its_method(lines):
    class Plotter(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            pass

    facts = {each.name: each.subject for each in describe_fit(None, [Plotter()])}
    assert facts[CALLBACK_AT].startswith("callback:Plotter ")
    assert facts[CALLBACK_MADE_AT].startswith("callback:Plotter ")


def test_a_class_of_the_program_is_made_where_it_is_called(lines):
    class Base(keras.callbacks.Callback):
        def __init__(self, path):
            super().__init__()
            self.path = path

    class Journal(Base):
        def __init__(self, path):
            super().__init__(path)

    line = inspect.currentframe().f_lineno + 1
    journal = Journal("run.json")
    assert line_of(journal) == f"{HERE}:{line}"


def test_what_a_function_that_makes_one_has_deleted_is_gone(lines):
    class Journal(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()

    class Kept:
        pass

    def train(_):
        data = Kept()
        alive = weakref.ref(data)
        Journal()
        del data
        gc.collect()
        return alive()

    assert train(0) is None


def test_callbacks_may_be_equal_and_without_a_hash(lines):
    class Same(keras.callbacks.Callback):
        def __eq__(self, other):
            return True

    first = Same()
    second = Same()
    assert line_of(first) != line_of(second)
    assert line_of(keras.Model) == ""


def test_afterwards_nothing_is_hooked_or_remembered(traced):
    collector = CallbackLines()
    collector.start(traced.context)
    made = keras.callbacks.History()
    assert hooked_by("callback_lines") == ["keras.src.callbacks.callback.Callback.__init__"]
    collector.stop()
    assert hooked_by("callback_lines") == []
    assert line_of(made) == ""

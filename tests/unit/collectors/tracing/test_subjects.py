"""What is traced is told by the function that the user wrote, wherever it stands."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.tracing.subjects import Subjects  # noqa: E402


def train_step(x):
    return x


def at(function) -> str:
    return f"test_subjects.py:{function.__code__.co_firstlineno}"


def at_line(before: int) -> int:
    """The number of a line of the test, so many lines from the one that asks."""
    return sys._getframe(1).f_lineno + before


@pytest.fixture(scope="module")
def subjects():
    return Subjects.of_process()


def options(function, name="f", **attributes):
    return SimpleNamespace(python_function=function, name=name, attributes=attributes)


def test_a_function_of_the_users_has_its_name_and_place(subjects):
    found = subjects.identify(options(train_step), None)
    assert found.function == "train_step"
    assert found.location.endswith(at(train_step))
    assert not found.is_library
    assert not found.is_tf_data


def test_two_objects_of_one_code_are_one_subject(subjects):
    def make():
        return lambda x: x + 1

    one, other = (subjects.identify(options(make()), None) for _ in range(2))
    assert one.key == other.key
    assert one.key != subjects.identify(options(train_step), None).key


def test_a_function_of_tensorflows_own_is_a_librarys(subjects):
    found = subjects.identify(options(tf.reduce_sum), None)
    assert found.is_library


def test_what_a_partial_holds_is_looked_into(subjects):
    bound = partial(train_step, 1)
    assert subjects.of_function(bound).function == "train_step"


def test_what_has_no_code_has_a_name_and_no_place(subjects):
    found = subjects.identify(options(len), None)
    assert (found.function, found.location) == ("len", "")


def test_a_map_function_is_looked_up_under_those_of_tf_data(subjects):
    def as_tf_data_wraps(self):
        def wrapper_helper():
            return self

        return lambda: wrapper_helper()

    wrapped = as_tf_data_wraps(SimpleNamespace(_func=train_step))
    found = subjects.identify(options(wrapped, _tf_data_function=True), None)
    assert found.function == "train_step"
    assert found.is_tf_data
    assert found.is_library


def test_the_initialization_of_variables_belongs_to_what_created_them(subjects):
    first = subjects.identify(options(train_step), None)
    initialize = tf.reduce_sum  # any function that TensorFlow wrote
    found = subjects.identify(options(initialize, name="initialize_variables"), first)
    assert found.creates_variables_of == first
    assert found.function == "train_step"
    assert found.key != first.key
    again = subjects.identify(options(initialize, name="fn_with_cond"), found)
    assert again.creates_variables_of == first


def test_a_model_that_the_program_made_a_function_of_is_its_own_at_the_line_of_the_call(subjects):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    found, again = [subjects.identify(options(model), None) for _ in range(2)]
    assert (found.function, found.is_library, found.model) == ("Sequential", False, None)
    assert found.location.endswith(f":{at_line(-2)}")
    assert found.key == again.key
    method = subjects.identify(options(model.call), None)
    assert (method.function, method.is_library) == ("Sequential.call", False)


def test_a_function_that_keras_makes_of_a_model_is_a_librarys(subjects):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    keras = {"__name__": "keras.src.export", "subjects": subjects, "options": options(model)}
    exec("found = subjects.identify(options, None)", keras)
    assert keras["found"].is_library

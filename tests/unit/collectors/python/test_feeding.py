"""A generator that feeds the loop is told from one that is the loop, and from none."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.python.feeding import Feeding, places_of_input
from tb_slowdown_plugin.collectors.python.still_frames import stack_of


def flip(look):
    return look(sys._getframe())


def batches(look):
    for _ in range(2):
        yield flip(look)


def test_what_a_generator_of_the_program_calls_feeds_its_loop():
    feeding = Feeding()
    assert list(batches(feeding.feeds)) == [True, True]
    assert flip(feeding.feeds) is False
    of_expression = (flip(feeding.feeds) for _ in range(1))
    assert next(of_expression) is False


class Loader:
    def __init__(self, look):
        self.look = look

    def __getitem__(self, batch):
        return flip(self.look)

    def __next__(self):
        return self[0]


def test_a_class_that_gives_batches_feeds_the_loop_that_asks_it():
    loader = Loader(Feeding().feeds)
    assert loader[3] is True
    assert next(loader) is True


def test_a_generator_that_runs_a_graph_holds_the_loop():
    tf = pytest.importorskip("tensorflow")
    feeding, seen = Feeding(), []

    @tf.function
    def step():
        tf.py_function(lambda: None, [], [])
        return tf.constant(1.0)

    def epochs():
        yield feeding.feeds(sys._getframe())
        profile = sys.getprofile()
        sys.setprofile(
            lambda frame, event, _: (
                seen.append(feeding.feeds(frame))
                if event == "call" and "polymorphic_function" in frame.f_code.co_filename
                else None
            )
        )
        step()
        sys.setprofile(profile)
        yield feeding.feeds(sys._getframe())

    first, later = epochs()
    assert (first, later) == (True, False)
    assert seen
    assert not any(seen)


def test_the_lines_of_a_generator_of_a_pipeline_are_found():
    tf = pytest.importorskip("tensorflow")
    seen = []

    def read():
        seen.extend(places_of_input([stack_of(sys._getframe())]))
        return 1

    def elements():
        yield read()

    for _ in tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([], tf.int32)):
        pass
    assert seen == [(read.__code__, read.__code__.co_firstlineno + 1)]
    assert list(places_of_input([stack_of(sys._getframe())])) == []


def test_the_lines_of_a_py_dataset_are_found():
    keras = pytest.importorskip("keras")
    seen = []

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            seen.extend(places_of_input([stack_of(sys._getframe())]))
            return np.ones((4, 2)), np.ones((4, 1))

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(Batches(workers=2), verbose=0)
    assert {code.co_name for code, _ in seen} == {"__getitem__"}

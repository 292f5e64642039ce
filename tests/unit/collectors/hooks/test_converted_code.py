"""A frame of code that AutoGraph has written leads to the line that it was written for."""

from __future__ import annotations

import sys

import pytest

from tb_slowdown_plugin.collectors.hooks.converted_code import line_before
from tb_slowdown_plugin.collectors.hooks.installed_code import is_generated

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def look(found):
    frame = sys._getframe()
    while not is_generated(frame.f_code.co_filename):
        frame = frame.f_back
    found.append((frame.f_code.co_filename, *line_before(frame)))


def test_the_line_of_the_program_is_found():
    found = []

    def step(x):
        if tf.reduce_sum(x) > 0:
            x = x + 1.0
        tf.autograph.experimental.do_not_convert(look)(found)
        return x

    tf.function(step)(tf.ones([2]))
    ((file, code, line),) = found
    assert file != __file__
    assert (code, line) == (step.__code__, step.__code__.co_firstlineno + 3)


def test_of_a_comprehension_and_a_branch_too():
    found = []
    see = tf.autograph.experimental.do_not_convert(look)

    def step(x):
        [see(found) for _ in range(1)]
        if tf.reduce_sum(x) > 0:
            see(found)
        return x

    tf.function(step)(tf.ones([2]))
    first = step.__code__.co_firstlineno
    assert [(code, line - first) for _, code, line in found] == [
        (step.__code__, 1),
        (step.__code__, 3),
    ]


def test_a_frame_that_nobody_has_converted_has_none():
    assert line_before(sys._getframe()) == (None, 0)

"""What frames say of one moment: the program's line, who called it, and whose code runs."""

from __future__ import annotations

import functools
import os
import sys
from types import FrameType

import pytest

from tb_slowdown_plugin.collectors.python.sampled_frames import (
    calls_no_tensorflow,
    find_caller,
    libraries_of,
    place_of,
)
from tb_slowdown_plugin.collectors.python.still_frames import Stack, stack_of


def look() -> Stack:
    return stack_of(sys._getframe(1))


def call(then):
    return then()


def again(depth: int, then):
    return again(depth - 1, then) if depth else then()


def in_module(name: str) -> FrameType:
    """A frame of a file of Python's own, in a module of that name."""
    module = {"__name__": name, "see": lambda: sys._getframe(1)}
    exec(compile("def run():\n    return see()\nframe = run()", os.__file__, "exec"), module)
    frame: FrameType = module["frame"]
    return frame


def test_the_caller_is_the_next_function_of_the_program() -> None:
    def sample() -> Stack:
        return look()

    assert find_caller(call(sample), sample.__code__) is call.__code__
    through_library = functools.reduce(lambda _, then: then(), [sample], None)
    assert find_caller(through_library, sample.__code__).co_name == "<lambda>"


def test_who_calls_itself_has_another_caller() -> None:
    stack = call(lambda: again(3, look))
    assert find_caller(stack, again.__code__).co_name == "<lambda>"


def test_of_a_function_that_is_not_there_nothing_is_known() -> None:
    assert find_caller(look(), place_of.__code__) is None
    assert find_caller((), call.__code__) is None
    assert place_of(None) is None


@pytest.mark.parametrize(
    ("module", "told"), [("numpy._core.numeric", ["in:numpy"]), ("json.decoder", [])]
)
def test_a_package_with_advice_of_its_own_is_told(module: str, told: list[str]) -> None:
    assert libraries_of(in_module(module)) == told


@pytest.mark.parametrize(
    ("module", "is_own"), [("numpy._core.numeric", True), ("keras.src.layers.layer", False)]
)
def test_what_tensorflow_runs_is_not_the_programs_own(module: str, is_own: bool) -> None:
    code = test_what_tensorflow_runs_is_not_the_programs_own.__code__
    assert calls_no_tensorflow(code, in_module(module)) == is_own

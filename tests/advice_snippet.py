"""Runs the code of an advice: as the two programs that a snippet stands for."""

from __future__ import annotations

import collections
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.records.types import Change, Trace

tf = pytest.importorskip("tensorflow")

MARKS = [
    pytest.mark.tensorflow,
    # Keras says of every dataset that it does not shuffle it.
    pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning"),
    # Keras 3 converts tensors to numpy by the protocol of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
"""Of each module that tries advice."""


@dataclass
class Snippet:
    """The two programs of a snippet."""

    code: str

    def run(self, side: str, namespace: dict | None = None) -> dict:
        """Runs the "old" or the "new" program."""
        sign = {"old": "-", "new": "+"}[side]
        lines = [line[2:] for line in self.code.splitlines() if line[:1] in (sign, " ")]
        program = "\n".join(lines)
        names = {"tf": tf, "np": np, "gc": gc, "time": time, "collections": collections}
        names.update(namespace or {})
        exec(program, names)  # the point of the test: the advice is a program
        return names


def trace(what: str, before: str, after: str, signature: tuple[str, ...] = (), cause="signature"):
    change = Change("argument", what, before, after)
    return Trace(
        2, "train_step", "train.py:41", 1.0, 0.5, cause, changes=(change,), signature=signature
    )


class Count:
    """Counts traces; a list would be an argument that the trace changes."""

    def __init__(self) -> None:
        self.number = 0

    def append(self, _value) -> None:
        self.number += 1

    def __len__(self) -> int:
        return self.number


def counting(calls: list):
    """A stage of a pipeline that notes each element it works on."""

    def stage(x):
        def note(value):
            calls.append(value)
            return value

        y = tf.numpy_function(note, [x], x.dtype)
        y.set_shape(x.shape)
        return y

    return stage


def small_model():
    return tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])


def small_data(batches: int = 2):
    return tf.data.Dataset.from_tensors((tf.ones([2, 2]), tf.ones([2, 1]))).repeat(batches)


CaseOfAdvice = tuple[tuple[Advice, ...], str, Callable[..., None] | None]
"""(advice, words that the text of one of them begins with, what must hold of its code)."""


def pick(advice: tuple[Advice, ...], beginning: str) -> Advice:
    """The one advice that begins with these words."""
    (found,) = (each for each in advice if each.text.startswith(beginning))
    return found


def check_case(case: CaseOfAdvice, request: pytest.FixtureRequest) -> None:
    """Runs the check of a case with the fixtures that it asks for."""
    advice, beginning, check = case
    if check is None:  # it has no code
        assert not pick(advice, beginning).code
        return
    wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
    fixtures = {name: request.getfixturevalue(name) for name in wanted if name != "snippet"}
    check(snippet=Snippet(pick(advice, beginning).code), **fixtures)


def check_all(cases: dict[str, CaseOfAdvice], elsewhere: tuple[str, ...] = ()) -> None:
    """Every code of these advices has a case; each is a sentence, and has its trade-off.

    `elsewhere`: how the texts begin that are tried in the file of another family.
    """
    tried = {pick(advice, beginning).text for advice, beginning, _ in cases.values()}
    known = {each.text for advice, _, _ in cases.values() for each in advice if each.code}
    assert {text for text in known - tried if not text.startswith(elsewhere)} == set()
    for advice, _, _ in cases.values():
        for each in advice:
            assert each.price or not each.code
            assert each.text[0].isupper()
            assert each.text.endswith(".")

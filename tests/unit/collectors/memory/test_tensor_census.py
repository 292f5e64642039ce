"""How many tensors are alive, of which shapes, and who keeps them."""

from __future__ import annotations

import gc
import sys
import threading
from email.message import Message
from types import CodeType, ModuleType

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces  # noqa: E402
from tb_slowdown_plugin.collectors.memory.tensor_census import (  # noqa: E402
    Holder,
    find_holder,
    find_scripts,
    take_census,
)

pytestmark = pytest.mark.tensorflow
EAGER = type(tf.constant(1))
ODD = (7, 11, 3)


def group_of(census):
    return next((each for each in census.groups if each.kind == f"float32 {ODD}"), None)


def test_tensors_are_counted_by_type_and_shape() -> None:
    gc.collect()  # of what other tests left, nothing goes meanwhile
    before = take_census(EAGER)
    assert group_of(before) is None
    kept = [tf.zeros(ODD) for _ in range(9)]
    census = take_census(EAGER)
    group = group_of(census)
    assert (group.count, group.size_bytes) == (9, 9 * 7 * 11 * 3 * 4)
    assert census.count >= before.count + 9
    assert 1 <= len(group.samples) <= 5
    assert census.groups[0].size_bytes == max(each.size_bytes for each in census.groups)
    del kept


def test_a_variable_is_no_tensor_that_stays_alive() -> None:
    variable = tf.Variable(tf.zeros(ODD))
    kinds = {each.kind for each in take_census(EAGER).groups}
    assert not any(kind.startswith("resource") for kind in kinds)
    del variable


class Trainer:
    def __init__(self) -> None:
        self.history = [tf.zeros(ODD) for _ in range(4)]


def test_a_line_of_a_library_that_adds_is_no_place() -> None:
    message = Message()
    message._headers = [tf.zeros(ODD) for _ in range(4)]
    assert held_by(message._headers[:3]) == Holder("list `_headers` of Message")


def held_by(samples) -> Holder:
    return find_holder(samples, threading.get_ident(), SourcePlaces.of_process(), {})


def test_the_attribute_that_keeps_them_is_named() -> None:
    trainer = Trainer()
    samples = list(group_of(take_census(EAGER)).samples)
    assert held_by(samples) == Holder("list `history` of Trainer")  # it is made at once
    del trainer


def test_the_local_variable_that_keeps_them_is_named() -> None:
    losses = [tf.zeros(ODD) for _ in range(4)]
    samples = list(group_of(take_census(EAGER)).samples)
    told = held_by(samples).text
    assert told.startswith("list `losses` of test_the_local_variable_that_keeps_them_is_named")
    assert "test_tensor_census.py:" in told
    del losses


def test_of_a_script_that_is_over_the_line_is_known() -> None:
    """As at the end of a program: its frame is gone, its names are still there."""
    script = compile(
        "from __future__ import annotations\n"
        "bank = make()\n"
        "for _ in range(2):\n"
        "    bank = grow(bank)\n"
        "note()\n",
        "script_of_the_test.py",
        "exec",
    )
    module = ModuleType("script_of_the_test")
    seen: dict[int, CodeType] = {}
    vars(module).update(
        make=lambda: tf.zeros(ODD),
        grow=lambda bank: bank + 1.0,
        note=lambda: seen.update(find_scripts(threading.get_ident())),
    )
    sys.modules[module.__name__] = module
    try:
        exec(script, vars(module))
        samples = list(group_of(take_census(EAGER)).samples)
        places = SourcePlaces.of_process()
        holder = find_holder(samples, threading.get_ident(), places, seen)
    finally:
        del sys.modules[module.__name__]
    assert holder.text == "`bank` of script_of_the_test.py"
    assert holder.place == "<module> (script_of_the_test.py:4)"


def test_what_a_module_has_runs_no_code() -> None:
    """Neither a proxy that is asked for its class, nor a metaclass for the members of one."""

    class Sly:
        @property
        def __class__(self):
            raise AssertionError("asked for its class")

    class Meta(type):
        def __getattribute__(cls, name):
            raise AssertionError(f"asked for {name}")

    module = ModuleType("sly_module_of_the_test")
    vars(module).update(sly=Sly(), Guarded=Meta("Guarded", (), {}), kept=[tf.zeros(ODD)] * 4)
    sys.modules[module.__name__] = module
    try:
        holder = held_by(list(group_of(take_census(EAGER)).samples))
    finally:
        del sys.modules[module.__name__]
    assert holder.text == "list `kept` of sly_module_of_the_test"

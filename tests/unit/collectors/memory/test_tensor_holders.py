"""Who keeps tensors alive: the names, and that nothing of the program's runs for it."""

from __future__ import annotations

import collections
import gc
import sys
import threading
import weakref
from email.message import Message
from types import CodeType, ModuleType

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces  # noqa: E402
from tb_slowdown_plugin.collectors.memory.tensor_census import take_census  # noqa: E402
from tb_slowdown_plugin.collectors.memory.tensor_holders import (  # noqa: E402
    Holder,
    find_holder,
    find_scripts,
)

pytestmark = pytest.mark.tensorflow
EAGER = type(tf.constant(1))
ODD = (7, 11, 3)
HERE = "tests/unit/collectors/memory/test_tensor_holders.py"
history = []
"""A list of a module, as a careless training loop has it."""


class Replay:
    def __init__(self):
        self.buffer = collections.deque()
        self.pairs = []


def tensors(count, shape):
    return [tf.zeros(shape) for _ in range(count)]


def samples_of(kind):
    groups = take_census(EAGER).groups
    return list(next(group for group in groups if group.kind == kind).samples)


def held_by(samples) -> Holder:
    return find_holder(samples, threading.get_ident(), SourcePlaces.of_process(), {})


@pytest.fixture
def holder_of(monkeypatch, root):
    monkeypatch.chdir(root)
    gc.unfreeze()  # what another test has frozen, Python's collector doesn't show as a holder

    def find(kind):
        groups = take_census(EAGER).groups  # its own samples hold them, too
        group = next(group for group in groups if group.kind == kind)
        return held_by(group.samples).text

    return find


def test_a_list_of_a_module_is_named(holder_of):
    history.extend(tensors(50, (5, 1)))
    assert holder_of("float32 (5, 1)") == f"list `history` of {HERE}"
    history.clear()


def test_a_local_list_is_named_with_its_function(holder_of):
    def train():
        losses = tensors(50, (5, 2))
        return holder_of("float32 (5, 2)"), len(losses)

    found, _ = train()
    assert found.startswith("list `losses` of train (")
    assert f"({HERE}:" in found


def test_attributes_are_named_with_their_class(holder_of):
    replay = Replay()
    replay.buffer.extend(tensors(50, (5, 3)))
    replay.pairs.extend((tensor, "label") for tensor in tensors(50, (5, 4)))
    assert holder_of("float32 (5, 3)") == "deque `buffer` of Replay"
    assert holder_of("float32 (5, 4)") == "list `pairs` of Replay"


def test_a_single_tensor_is_named(holder_of):
    concatenated = tf.zeros((5, 5, 500))
    assert f"`concatenated` of {test_a_single_tensor_is_named.__name__}" in holder_of(
        "float32 (5, 5, 500)"
    )
    assert concatenated.shape.rank == 3


def test_what_has_no_name_is_told_by_its_type(holder_of):
    def keep():
        held = dict(enumerate(tensors(50, (5, 6))))
        return lambda: held

    keeper = keep()
    assert holder_of("float32 (5, 6)").startswith("closure of ")
    deep = [[[keeper()]]]
    del keeper
    assert holder_of("float32 (5, 6)") == "dict"
    assert len(deep[0][0][0]) == 50


def test_an_object_of_the_user_runs_no_code(holder_of):
    class Sly:
        def __getattribute__(self, name):
            raise AssertionError(f"asked for {name}")

    sly = Sly()
    object.__getattribute__(sly, "__dict__")["kept"] = tensors(50, (5, 7))
    assert holder_of("float32 (5, 7)") == "list `kept` of Sly"


def test_local_variables_are_neither_kept_nor_lost(holder_of):
    """Python to 3.12 keeps a copy of a frame's variables once somebody has asked for them."""

    def train():
        batch = tf.zeros((5, 8))
        alive = weakref.ref(batch)
        holder_of("float32 (5, 8)")
        del batch
        return alive() is None

    def with_a_copy():
        batch = tf.zeros((5, 9))
        copy = locals()
        holder_of("float32 (5, 9)")
        return copy["batch"] is batch

    assert train()
    assert with_a_copy()


class Trainer:
    def __init__(self) -> None:
        self.history = [tf.zeros(ODD) for _ in range(4)]


def test_a_line_of_a_library_that_adds_is_no_place() -> None:
    message = Message()
    message._headers = [tf.zeros(ODD) for _ in range(4)]
    assert held_by(message._headers[:3]) == Holder("list `_headers` of Message")


def test_the_attribute_that_keeps_them_is_named() -> None:
    trainer = Trainer()
    samples = samples_of(f"float32 {ODD}")
    assert held_by(samples) == Holder("list `history` of Trainer")  # it is made at once
    del trainer


def test_the_local_variable_that_keeps_them_is_named() -> None:
    losses = [tf.zeros(ODD) for _ in range(4)]
    samples = samples_of(f"float32 {ODD}")
    told = held_by(samples).text
    assert told.startswith("list `losses` of test_the_local_variable_that_keeps_them_is_named")
    assert "test_tensor_holders.py:" in told
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
        samples = samples_of(f"float32 {ODD}")
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
        holder = held_by(samples_of(f"float32 {ODD}"))
    finally:
        del sys.modules[module.__name__]
    assert holder.text == "list `kept` of sly_module_of_the_test"

"""Op determinism that is switched on late: takes our clocks out of graphs that have them.

TensorFlow's clock fails wherever it runs once `tf.config.experimental.enable_op_determinism`
was called. Functions that were traced before, with a clock of `graph_clock` in them, would
fail, and with them the training. Their definitions are replaced by ones with a constant for
each clock, under the same name, so that nobody who calls them needs a new trace.

Private TensorFlow, so it is all in this file (2.16 to 2.21): the eager context's methods
`list_function_names`, `get_function_def`, `has_function`, `remove_function` and
`add_function_def`.

Cost: nothing but at that call, and then 0.1 ms a function.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks

_CLOCK: Final = "Timestamp"
_DEVICE: Final = "CPU:0"
"""Where `graph_clock` puts its clocks; a program's own have no device as a rule."""

_hooks: Final = MethodHooks("op_determinism")


class _Clocks(NamedTuple):
    """Those that a collector puts into graphs."""

    are_in_use: Callable[[], bool]
    report_failure: Callable[[str, str], None] | None
    """None once the collector has stopped."""


_watched: Final[dict[str, _Clocks]] = {}
"""By the name of the collector; those that have stopped stay, as their clocks may."""


def watch(
    part: str, are_in_use: Callable[[], bool], report_failure: Callable[[str, str], None]
) -> None:
    """Begins to look out for op determinism: each collector that puts clocks into graphs does.

    Args:
      part: The collector.
      are_in_use: Whether any graph has a clock of it.
      report_failure: (part, reason): is told what is not measured any more.
    """
    import tensorflow as tf

    if not any(each.report_failure for each in _watched.values()):
        _hooks.remove()
        with contextlib.suppress(Unavailable):
            _hooks.replace(tf.config.experimental, "enable_op_determinism", _then_take_clocks_out)
    _watched[part] = _Clocks(are_in_use, report_failure)


def unwatch(part: str) -> None:
    """Tells a collector no more. What guards its clocks stays as long as graphs have them."""
    if part in _watched:
        _watched[part] = _watched[part]._replace(report_failure=None)
    if not any(each.report_failure or each.are_in_use() for each in _watched.values()):
        _hooks.remove()


def _then_take_clocks_out(enable: Method) -> Method:
    def enable_op_determinism() -> None:
        enable()
        try:
            changed = take_clocks_out()
        except Exception as error:  # noqa: BLE001 - the program must go on
            _tell(
                f"{type(error).__name__}: functions that were traced with a clock in them may fail "
                "under op determinism; switch it on before the monitor is started"
            )
            return
        if changed:
            _tell(
                "op determinism was switched on, and TensorFlow has no clock in graphs then: "
                "waits in graphs are not measured from here on"
            )

    return enable_op_determinism


def _tell(reason: str) -> None:
    for part, clocks in _watched.items():
        if clocks.report_failure is not None and clocks.are_in_use():
            clocks.report_failure(part, reason)


def take_clocks_out() -> int:
    """Replaces all functions of this process that have a clock in them; says how many had."""
    from tensorflow.python.eager import context

    eager: Any = context.context()
    definitions = {
        name: eager.get_function_def(name)
        for name in (
            each.decode() if isinstance(each, bytes) else each
            for each in eager.list_function_names()
        )
    }
    changed = {name for name, each in definitions.items() if _stop_clocks(each)}
    # What calls them has been prepared with their old bodies in it.
    affected = _with_callers(definitions, changed)
    for name in affected:
        while eager.has_function(name):
            eager.remove_function(name)
    for name in affected:
        eager.add_function_def(definitions[name])
    return len(changed)


def _stop_clocks(definition: Any) -> bool:
    """Makes a constant of each clock in a `FunctionDef`; whether there was one."""
    import tensorflow as tf

    clocks = {
        node.name: node
        for node in definition.node_def
        if node.op == _CLOCK and node.device.endswith(_DEVICE)
    }
    for node in clocks.values():
        node.op = "Const"
        node.ClearField("attr")
        node.attr["dtype"].type = tf.float64.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0.0, tf.float64))
    for node in definition.node_def if clocks else ():
        node.input[:] = [_output(each, clocks) for each in node.input]
    for name, returned in definition.ret.items() if clocks else ():
        definition.ret[name] = _output(returned, clocks)
    return bool(clocks)


def _output(reference: str, clocks: Iterable[str]) -> str:
    """`node:ts:0`, as the clock's output is called, is `node:output:0` of a constant."""
    node, *output = reference.split(":")
    return ":".join([node, "output", *output[1:]]) if output and node in clocks else reference


def _with_callers(definitions: dict[str, Any], names: set[str]) -> set[str]:
    """These functions and all that call them, over any number of others."""
    called = {name: _called_by(each) for name, each in definitions.items()}
    found = set(names)
    while more := {name for name, others in called.items() if others & found} - found:
        found |= more
    return found


def _called_by(definition: Any) -> set[str]:
    attributes = [value for node in definition.node_def for value in node.attr.values()]
    functions = [value.func.name for value in attributes if value.HasField("func")]
    return {*functions, *(each.name for value in attributes for each in value.list.func)}

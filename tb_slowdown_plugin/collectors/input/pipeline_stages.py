"""Which stages a `tf.data` pipeline has, as the program wrote them.

tf.data keeps what a dataset is made of in private attributes (`_input_dataset`,
`_map_func`, `_buffer_size`), alike in TensorFlow 2.16 and 2.21. What is not there
isn't recorded. Cost: 5 us a stage and 1 us an operation of its functions, for each new dataset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from tb_slowdown_plugin.catalog.names import INPUT_PIPELINE
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import code_of, unwrap
from tb_slowdown_plugin.records.types import Fact

_MOST_STAGES: Final = 64
_CLASS: Final = re.compile(r"_?(\w+?)Dataset(?:V\d)?")
_UNTOLD: Final = frozenset({"Options", "Model", "Root"})
"""Wrappers without work of their own."""
_ARRAYS: Final = "data_adapters.array_data_adapter"
_PYTHON: Final = frozenset({"PyFunc", "EagerPyFunc", "PyFuncStateless"})
_MAPS: Final = frozenset({"Map", "ParallelMap"})
_MOST_OPERATIONS: Final = 2_000
_DEEPEST: Final = 3
"""Closures in closures; the generator is in the second."""


def describe_pipeline(dataset: Any) -> Fact:
    """The stages from the source to the end, and what is known of them.

    Numbers, each only where it is so: "arrays" (Keras made it of arrays), "generator"
    (of a Python generator), "python" (a stage calls Python for each element), and
    "shuffle_buffer", the elements of the largest one; "full_batches" (none is smaller); and
    "mapped_bytes", what the last `map` gives in a pass.
    """
    stages: list[str] = []
    numbers: dict[str, float] = {}
    drops: list[float | None] = []
    for stage in _stages_of(dataset):
        matched = _CLASS.fullmatch(type(stage).__name__)
        kind = matched[1] if matched else type(stage).__name__.strip("_")
        if kind in _UNTOLD:
            continue
        if kind in _MAPS and not _MAPS.intersection(stages):
            made = _bytes_of_pass(stage)
            if made is not None:
                numbers["mapped_bytes"] = made
        stages.append(kind)
        wrapper = getattr(stage, "_map_func", None)
        function = getattr(wrapper, "_func", None)
        module = str(getattr(function, "__module__", ""))
        if _is_from_generator(function):
            numbers["generator"] = 1.0
        elif _calls_python(wrapper):
            numbers["python"] = 1.0
        if _ARRAYS in module:
            numbers["arrays"] = 1.0
        if hasattr(stage, "_drop_remainder"):
            drops.append(_number(stage._drop_remainder))
        if kind == "Shuffle":
            size = _number(getattr(stage, "_buffer_size", None))
            if size is not None:
                numbers["shuffle_buffer"] = max(size, numbers.get("shuffle_buffer", 0.0))
    if drops and all(drops):
        numbers["full_batches"] = 1.0
    return Fact(INPUT_PIPELINE, " ".join(reversed(stages)), numbers)


def functions_of(dataset: Any) -> Iterator[tuple[CodeType, str]]:
    """The user's functions of the stages, from the end to the source, with what they call.

    That is "generator" (Python makes the elements with it), "python" (it calls Python for each
    element), or "".
    """
    for stage in _stages_of(dataset):
        wrapper = getattr(stage, "_map_func", None) or getattr(stage, "_predicate", None)
        function = getattr(wrapper, "_func", None)
        generator = _generator_of(function, _DEEPEST)
        code = code_of(unwrap(function if generator is None else generator))
        if code is not None and not is_installed(code.co_filename):
            python = "python" if _calls_python(wrapper) else ""
            yield code, python if generator is None else "generator"


def _generator_of(function: Any, deepest: int) -> Any:
    """What `from_generator` was given, in the closures of the functions that it makes of it."""
    if not _is_from_generator(function):
        return None
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held = cell.cell_contents
        except ValueError:  # nothing yet
            continue
        found = getattr(held, "_generator", None)
        if found is None and deepest:
            found = _generator_of(held, deepest - 1)
        if found is not None:
            return found
    return None


def _is_from_generator(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).endswith("from_generator_op")


def _stages_of(dataset: Any) -> Iterator[Any]:
    """From the end to the source; of several sources the first."""
    for _ in range(_MOST_STAGES):
        if dataset is None:
            return
        yield dataset
        inputs = dataset._inputs() if hasattr(dataset, "_inputs") else ()
        dataset = inputs[0] if inputs else None


def _bytes_of_pass(stage: Any) -> float | None:
    """What all elements of a stage take in memory; None where shapes or their number vary."""
    from tensorflow.python.data.util import nest

    total = 0
    for spec in nest.flatten(stage.element_spec):
        shape, dtype = getattr(spec, "shape", None), getattr(spec, "dtype", None)
        numbers = None if shape is None else shape.num_elements()
        if numbers is None or dtype is None or dtype.name in ("string", "resource", "variant"):
            return None
        total += numbers * dtype.size
    elements = int(stage.cardinality())
    return float(total * elements) if elements >= 0 else None


def _calls_python(wrapper: Any) -> bool:
    graph = getattr(getattr(wrapper, "function", None), "graph", None)
    if graph is None or graph.version > _MOST_OPERATIONS:
        return False
    return any(operation.type in _PYTHON for operation in graph.get_operations())


def _number(tensor: Any) -> float | None:
    """The value of a constant; None for one that depends on other tensors."""
    from tensorflow.python.framework import tensor_util

    value = None if tensor is None else tensor_util.constant_value(tensor)
    return None if value is None else float(value)

"""Which stages a `tf.data` pipeline has, as the program wrote them.

tf.data keeps what a dataset is made of in private attributes (`_input_dataset`,
`_map_func`, `_buffer_size`), alike in TensorFlow 2.16 and 2.21. What is not there
isn't recorded. Cost: 5 us a stage and 1 us an operation of its functions, for each new dataset.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, Final

from tb_slowdown_plugin.catalog.names import INPUT_PIPELINE
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import closure_of, code_of, unwrap
from tb_slowdown_plugin.collectors.input.varying_elements import (
    constant_of,
    is_endless,
    is_random,
)
from tb_slowdown_plugin.records.types import Fact

_MOST_STAGES: Final = 64
_CLASS: Final = re.compile(r"_?(\w+?)Dataset(?:V\d)?")
_UNTOLD: Final = frozenset({"Options", "Model", "Root"})
"""Wrappers without work of their own."""
_ARRAYS: Final = "data_adapters.array_data_adapter"
_BY_KERAS: Final = "data_adapters."
_AUTOTUNE: Final = -1
"""`tf.data.AUTOTUNE`."""
_PYTHON: Final = frozenset({"PyFunc", "EagerPyFunc", "PyFuncStateless"})
_MAPS: Final = frozenset({"Map", "ParallelMap"})
_BATCHES: Final = frozenset({"Batch", "PaddedBatch", "ParallelBatch"})
_MOST_OPERATIONS: Final = 2_000
_DEEPEST: Final = 3
"""Closures in closures; the generator is in the second."""


def describe_pipeline(dataset: Any) -> Fact:
    """The stages from the source to the end, and what is known of them.

    Numbers, each only where it is so: "arrays" (Keras made it of arrays), "generator"
    (of a Python generator), "python" (a stage calls Python for each element), and
    "shuffle_buffer", the elements of the largest one; "full_batches" (none is smaller);
    "mapped_bytes", what the last `map` gives in a pass; "fitted" (Keras made it of a Python
    generator); "autotuned" (a stage is); the places, from 0 at the source, of the first stage
    that gives "random" elements and of the first "endless" one; and "library", with a bit for the
    place of each stage whose function a library has made.
    """
    stages: list[str] = []
    numbers: dict[str, float] = {}
    drops: list[float | None] = []
    found: dict[str, list[int]] = defaultdict(list)
    joined = False
    """With other datasets: then the shortest one says where it ends."""
    for kind, stage in _stages_with_kinds(dataset):
        if kind in _MAPS and not _MAPS.intersection(stages):
            made = _bytes_of_pass(stage)
            if made is not None:
                numbers["mapped_bytes"] = made
        stages.append(kind)
        wrapper = getattr(stage, "_map_func", None)
        function = getattr(wrapper, "_func", None)
        module = str(getattr(function, "__module__", ""))
        generator = _generator_of(function, _DEEPEST)
        if _is_from_generator(function):
            numbers["generator"] = 1.0
        elif _calls_python(wrapper):
            numbers["python"] = 1.0
        if _BY_KERAS in str(getattr(generator, "__module__", "")):
            numbers["fitted"] = 1.0
        if _AUTOTUNE in (_setting(stage, each) for each in ("_num_parallel_calls", "_buffer_size")):
            numbers["autotuned"] = 1.0
        for name in _traits_of(stage):
            if name != "endless" or not joined:
                found[name].append(len(stages))
        joined = joined or len(_inputs_of(stage)) > 1
        if _ARRAYS in module:
            numbers["arrays"] = 1.0
        if hasattr(stage, "_drop_remainder"):
            drops.append(constant_of(stage._drop_remainder) or _leaves_nothing(stage))
        if kind == "Shuffle":
            size = _setting(stage, "_buffer_size")
            if size is not None:
                numbers["shuffle_buffer"] = max(size, numbers.get("shuffle_buffer", 0.0))
    if drops and all(drops):
        numbers["full_batches"] = 1.0
    places = {name: [len(stages) - each for each in behind] for name, behind in found.items()}
    for name in ("random", "endless"):
        if name in places:
            numbers[name] = float(min(places[name]))
    if "library" in places:
        numbers["library"] = float(sum(1 << place for place in places["library"]))
    return Fact(INPUT_PIPELINE, " ".join(reversed(stages)), numbers)


def stages_by_kind(dataset: Any) -> list[tuple[str, Any]]:
    """The stages of the same fact with their kinds, from the source to the end."""
    return list(_stages_with_kinds(dataset))[::-1]


def first_varying(stages: list[tuple[str, Any]]) -> int | None:
    """The place of the first stage whose elements have a size that isn't known ahead.

    But for the number of examples in a batch, which only the last one has another of.

    Args:
      stages: From the source to the end, with their kinds.
    """
    from tensorflow import nest

    before = 0
    for place, (kind, stage) in enumerate(stages):
        shapes = (getattr(spec, "shape", None) for spec in nest.flatten(stage.element_spec))
        unknown = sum(
            list(shape).count(None) for shape in shapes if shape is not None and shape.rank
        )
        if unknown > before and kind not in _BATCHES:
            return place
        before = unknown
    return None


def functions_of(dataset: Any) -> Iterator[tuple[CodeType, tuple[str, ...]]]:
    """The user's functions of the stages, from the end to the source, with what is so of them.

    That is "generator" (Python makes the elements with it), or "python" (it calls Python for each
    element), and "buffered" (what it gives fills a shuffle buffer).
    """
    buffered: tuple[str, ...] = ()
    for stage in _stages_of(dataset):
        if hasattr(stage, "_buffer_size") and "Shuffle" in type(stage).__name__:
            buffered = ("buffered",)
        wrapper, function, generator = _function_of(stage)
        code = code_of(unwrap(function if generator is None else generator))
        code = code or getattr(generator, "gi_code", None)
        if code is not None and not is_installed(code.co_filename):
            python = ("python",) if _calls_python(wrapper) else ()
            yield code, (python if generator is None else ("generator",)) + buffered


def _function_of(stage: Any) -> tuple[Any, Any, Any]:
    """tf.data's wrapper of a stage's function, that function, and the program's generator in it."""
    wrapper = getattr(stage, "_map_func", None) or getattr(stage, "_predicate", None)
    function = getattr(wrapper, "_func", None)
    generator = _generator_of(function, _DEEPEST)
    return wrapper, function, generator if generator is None else _given_to_keras(generator)


def _given_to_keras(generator: Any) -> Any:
    """The program's generator under the one that Keras makes of it for `fit`; others as they are.

    Keras keeps what it was given in the closure of a function of its adapter, behind the batches
    that it has peeked at.
    """
    adapter = closure_of(generator).get("self")
    given = getattr(adapter, "generator", None)
    return closure_of(given).get("generator", generator) if given is not None else generator


def _traits_of(stage: Any) -> Iterator[str]:
    """What a stage is of "random", "endless", and "library"."""
    wrapper, function, generator = _function_of(stage)
    graph = getattr(getattr(wrapper, "function", None), "graph", None)
    if _is_from_generator(function):
        graph, function = None, generator
    elif _is_made_by_library(function):
        yield "library"
    if generator is None and not _calls_python(wrapper):
        function = None
    if is_random(stage, graph, function):
        yield "random"
    if is_endless(stage, generator):
        yield "endless"


def _is_made_by_library(function: Any) -> bool:
    """Not one that the program hands to `map` itself, such as `tf.image.rgb_to_grayscale`."""
    inner = unwrap(function)
    code = code_of(inner)
    is_inner = "<locals>" in str(getattr(inner, "__qualname__", ""))
    return code is not None and is_inner and is_installed(code.co_filename)


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


def _stages_with_kinds(dataset: Any) -> Iterator[tuple[str, Any]]:
    """From the end to the source, without what has no work of its own."""
    for stage in _stages_of(dataset):
        matched = _CLASS.fullmatch(type(stage).__name__)
        kind = matched[1] if matched else type(stage).__name__.strip("_")
        if kind not in _UNTOLD:
            yield kind, stage


def _stages_of(dataset: Any) -> Iterator[Any]:
    """From the end to the source; of several sources the first."""
    for _ in range(_MOST_STAGES):
        if dataset is None:
            return
        yield dataset
        dataset = next(iter(_inputs_of(dataset)), None)


def _inputs_of(stage: Any) -> Sequence[Any]:
    inputs: Sequence[Any] = stage._inputs() if hasattr(stage, "_inputs") else ()
    return inputs


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


def _leaves_nothing(stage: Any) -> float:
    """1.0 where the elements make up whole batches, as far as their number is known."""
    size = _setting(stage, "_batch_size")
    elements = int(_inputs_of(stage)[0].cardinality())
    return float(elements > 0 and size is not None and not elements % size)


def _calls_python(wrapper: Any) -> bool:
    graph = getattr(getattr(wrapper, "function", None), "graph", None)
    if graph is None or graph.version > _MOST_OPERATIONS:
        return False
    return any(operation.type in _PYTHON for operation in graph.get_operations())


def _setting(stage: Any, name: str) -> float | None:
    return constant_of(getattr(stage, name, None))

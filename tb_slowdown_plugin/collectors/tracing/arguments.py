"""What a `tf.function` was called with, as plain values that hold nothing of the user's.

`describe` turns TensorFlow's `FunctionType` into small frozen nodes. They
carry shapes, dtypes and Python numbers, booleans and None; of strings and
other values only type and size, of objects only the type name and a weak
reference. So they can be kept for as long as the process runs, be compared,
and be written into a logdir.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Dimensions: TypeAlias = "tuple[int | None, ...] | None"

_LONGEST = 40
"""Characters of a number's or a key's text; more would be noise in a sentence."""

HIDDEN_KEY: Final = "key of "
"""How the text of a key of a mapping begins that is no name."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor, or what is described by a dtype and a shape like one."""

    dtype: str
    shape: Dimensions
    """None for an unknown rank; a dimension is None where the trace accepts any."""
    sort: str = "tensor"
    """tensor, ragged tensor, sparse tensor, variable"""
    ragged_rank: int = 0

    def __str__(self) -> str:
        return f"{self.sort} {self.dtype} {shape_text(self.shape)}"


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number: another value is another trace."""

    text: str
    type_name: str

    def __str__(self) -> str:
        return f"Python {self.type_name} {self.text}"


@dataclass(frozen=True, slots=True)
class Value:
    """Any other Python value that is compared by what it is."""

    text: str
    """The value of a boolean or None; of others only type and size."""
    equality: int = 0
    """Tells values with the same text apart, and never leaves the process."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """A Python object: another object is another trace, even if it holds the same."""

    type_name: str
    reference: weakref.ref[Any]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        mine = self.reference()
        return mine is not None and mine is other.reference()

    def __str__(self) -> str:
        return f"{self.type_name} object"


@dataclass(frozen=True, slots=True)
class Group:
    """A list, tuple, mapping, or a compound type with parts."""

    sort: str
    """list, tuple, dict, the name of a named tuple, or "iterator" and its kind."""
    keys: tuple[str, ...]
    """How each part is reached: "[0]", "['b']", ".x"."""
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f"{self.sort} of {len(self.parts)}"


@dataclass(frozen=True, slots=True)
class Other:
    """A type that this module does not know; only whether it is equal."""

    type_name: str
    equality: int

    def __str__(self) -> str:
        return self.type_name


Node: TypeAlias = Tensor | Number | Value | Object | Group | Other
# one object for equal leaves: hundreds of traces are then compared mostly by address
_tensor_of = functools.lru_cache(maxsize=4096)(Tensor)
_number_of = functools.lru_cache(maxsize=4096)(Number)
_value_of = functools.lru_cache(maxsize=4096)(Value)

Arguments: TypeAlias = dict[str, Node]
"""Argument name, as in the user's signature, -> what it was."""


def describe(function_type: Any) -> Arguments:
    """The arguments of a trace.

    Args:
      function_type: TensorFlow's `FunctionType` with a type for each parameter.
    """
    return {
        name: describe_type(parameter.type_constraint)
        for name, parameter in function_type.parameters.items()
        if parameter.type_constraint is not None
    }


def describe_type(trace_type: Any) -> Node:
    """One `TraceType` or `TypeSpec`, by its class name, so that TensorFlow need not be imported."""
    name = type(trace_type).__name__
    if name == "Literal":
        return _describe_value(trace_type.value)
    if name == "Weakref":
        reference = trace_type._ref
        return Object(type(reference()).__name__, reference)
    if name == "List":
        return _sequence("list", trace_type.components_tuple.components)
    if name == "Tuple":
        return _sequence("tuple", trace_type.components)
    if name == "NamedTuple":
        return _attributes(trace_type)
    if name == "Attrs":
        return _attributes(trace_type.named_attributes)
    if name == "Dict":
        return _mapping(trace_type.mapping)
    if hasattr(trace_type, "_element_spec"):  # iterators, datasets, optionals
        return _sequence(_sort(name), _leaves(trace_type._element_spec))
    if hasattr(trace_type, "shape") and hasattr(trace_type, "dtype"):
        return _tensor(trace_type)
    if name == "CustomNestTraceType":  # a dataclass with TensorFlow's flatten protocol
        kept = _describe_plain(trace_type.metadata)
        group = _sequence(trace_type.value_type.__name__, trace_type.components)
        return Group(group.sort, (".metadata", *group.keys), (kept, *group.parts))
    return Other(name, _hash(trace_type))


def shape_text(shape: Dimensions) -> str:
    """A shape as Python writes it.

    Example:
      >>> shape_text((None, 10)), shape_text((3,)), shape_text(None)
      ('(None, 10)', '(3,)', 'of unknown rank')
    """
    return "of unknown rank" if shape is None else str(shape)


def _describe_value(value: Any) -> Node:
    if value is None:
        return _value_of("None")
    if isinstance(value, bool):
        return _value_of(f"Python bool {value}")
    if isinstance(value, int | float | complex):
        return _number_of(_shorten(_number_text(value)), type(value).__name__)
    if isinstance(value, str):
        return _value_of(f"string, {len(value)} characters", _hash(value))
    if isinstance(value, bytes):
        return _value_of(f"bytes, {len(value)} long", _hash(value))
    if value is _nan_stand_in():
        return _number_of("nan", "float")
    return _value_of(type(value).__name__, _hash(value))


def _describe_plain(value: Any) -> Node:
    """A plain Python value, where TensorFlow makes no types of its parts."""
    if isinstance(value, list | tuple):
        parts = tuple(_describe_plain(part) for part in value)
        return Group(type(value).__name__, tuple(f"[{i}]" for i in range(len(parts))), parts)
    return _describe_value(value)


def _nan_stand_in() -> Any:
    """What TensorFlow puts in place of nan, which is not equal to itself."""
    types = sys.modules.get("tensorflow.core.function.trace_type.default_types")
    return getattr(types, "NanMarker", types)


def _number_text(value: complex) -> str:
    try:
        return repr(value)
    except ValueError:  # more digits than Python is willing to print
        return f"an int of {int(value.real).bit_length()} bits"


def _tensor(spec: Any) -> Tensor:
    rank = spec.shape.rank if hasattr(spec.shape, "rank") else len(spec.shape)
    shape = None if rank is None else tuple(spec.shape)
    sorts = {"RaggedTensorSpec": "ragged tensor", "SparseTensorSpec": "sparse tensor"}
    name = type(spec).__name__
    return _tensor_of(
        str(getattr(spec.dtype, "name", spec.dtype)),
        shape,
        sorts.get(name, "tensor" if name == "TensorSpec" else _sort(name)),
        getattr(spec, "ragged_rank", 0),
    )


def _sequence(sort: str, components: Iterable[Any]) -> Group:
    parts = tuple(describe_type(component) for component in components)
    return Group(sort, tuple(f"[{index}]" for index in range(len(parts))), parts)


def _attributes(named: Any) -> Group:
    names = tuple(f".{name}" for name in named.attribute_names)
    parts = tuple(describe_type(component) for component in named.attributes.components)
    return Group(named.type_name, names, parts)


def _mapping(mapping: Mapping[Any, Any]) -> Group:
    keys = tuple(f"[{_key_text(key)}]" for key in mapping)
    return Group("dict", keys, tuple(describe_type(value) for value in mapping.values()))


def _leaves(structure: Any) -> list[Any]:
    """The type specs of a nested structure, in TensorFlow's order."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in _leaves(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for part in structure for leaf in _leaves(part)]
    return [structure]


def _key_text(key: Any) -> str:
    """A name as it is; a text may be anybody's, so of that, its length and what tells it apart."""
    if isinstance(key, str) and not (key.isidentifier() and len(key) <= _LONGEST):
        return f"{HIDDEN_KEY}{len(key)} characters, {hash(key) & 0xFFFF:04x}"
    if isinstance(key, str | bool | int | float) or key is None:
        return _shorten(repr(key))
    return type(key).__name__


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _sort(class_name: str) -> str:
    """`IteratorSpec` -> "iterator"."""
    return class_name.removesuffix("Spec").lower() or class_name


def _hash(value: Any) -> int:
    try:
        return hash(value)
    except TypeError:
        return id(value)

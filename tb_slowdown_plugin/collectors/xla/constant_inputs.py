"""Which inputs of a jitted function XLA needs to know by value: it compiles for each new value.

TensorFlow decides this in tensorflow/compiler/tf2xla/const_analysis.cc, which Python can't
call. This is the same walk over the graph, from the operations that need a constant back to
the inputs of the function. `tf.slice` is such an operation, `tf.gather` is none.

Cost: 9 us an operation of a jitted graph, once: a fiftieth of tracing it (MobileNetV2 with
Adam, 10,860 operations, in 2.21).

`NeededValue` is one such input; what it holds is read from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

_NEEDED: Final = {
    "axis": (
        *("ConcatV2", "CumulativeLogsumexp", "Cumprod", "Cumsum", "GatherV2", "ReverseV2"),
        "Roll",
    ),
    "begin": ("ResourceStridedSliceAssign", "Slice", "StridedSlice"),
    "block_shape": ("BatchToSpaceND", "SpaceToBatchND"),
    "crops": ("BatchToSpaceND",),
    "delta": ("Range",),
    "depth": ("OneHot",),
    "dim": ("ExpandDims",),
    "dimension": ("ArgMax", "ArgMin"),
    "dims": ("Fill",),
    "end": ("ResourceStridedSliceAssign", "StridedSlice"),
    "indices": ("DynamicStitch",),
    "input_sizes": ("Conv2DBackpropInput",),
    "k": ("MatrixDiagPartV3", "MatrixDiagV3", "MatrixSetDiagV3", "TopKV2"),
    "limit": ("Range",),
    "multiples": ("Tile",),
    "num": ("LinSpace",),
    "num_elements": ("TensorListReserve",),
    "num_samples": ("Multinomial", "StatelessMultinomial"),
    "num_segments": (
        *("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"),
        "UnsortedSegmentSum",
    ),
    "paddings": ("MirrorPad", "Pad", "PadV2", "SpaceToBatchND"),
    "perm": ("ConjugateTranspose", "Transpose"),
    "reduction_indices": ("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"),
    "s0": ("BroadcastArgs",),
    "s1": ("BroadcastArgs",),
    "shape": (
        *("BroadcastTo", "Empty", "RandomStandardNormal", "RandomUniform", "RandomUniformInt"),
        *("Reshape", "ScatterNd", "StatelessRandomNormalV2", "StatelessRandomUniformIntV2"),
        *("StatelessRandomUniformV2", "StatelessTruncatedNormalV2", "TruncatedNormal"),
    ),
    "size": ("Bincount", "DenseBincount", "ResizeBilinear", "ResizeNearestNeighbor", "Slice"),
    "size_splits": ("SplitV",),
    "split_dim": ("Split", "SplitV"),
    "start": ("Range",),
    "strides": ("StridedSlice",),
}
"""Argument -> the operations that need it as a constant: XLA was seen to compile again for each
new value in 2.16 and 2.21, 7 to 200 ms where a known one took 0.2 to 1 ms. Each of them is tried
by a test. TensorFlow says it with `CompileTimeConstantInput` in tensorflow/compiler/tf2xla/kernels,
though not all of those compile again: `LinSpace` does for its length only."""

_KNOWN_FROM_SHAPES: Final = frozenset(("Rank", "Shape", "ShapeN", "Size"))
"""What these give depends on the shape of their input, not on its value."""

_CALLS: Final = {
    "PartitionedCall": (("f",), 0),
    "StatefulPartitionedCall": (("f",), 0),
    "While": (("cond", "body"), 0),
    "StatelessWhile": (("cond", "body"), 0),
    "If": (("then_branch", "else_branch"), 1),
    "StatelessIf": (("then_branch", "else_branch"), 1),
}
"""Operation that runs other graphs -> attributes that name them, and how many of its own
inputs come before theirs."""

_LOOPS: Final = ("While", "StatelessWhile")

_PASS_EACH_ON: Final = (*_LOOPS, "IdentityN")
"""Output k of these depends on input k alone, as XLA sees it."""


def _by_operation() -> dict[str, frozenset[str]]:
    operations = {each for needing in _NEEDED.values() for each in needing}
    return {
        operation: frozenset(name for name, needing in _NEEDED.items() if operation in needing)
        for operation in operations
    }


NEEDED_BY: Final = _by_operation()
"""Operation -> those of its arguments that XLA needs as constants."""


@dataclass(slots=True)
class ConstantInputs:
    """Looks at graphs; what it found in a graph that is called often is kept."""

    _found: dict[int, dict[int, Any]] = field(default_factory=dict)

    def of(self, graph: Any) -> dict[int, Any]:
        """Inputs of a `FuncGraph` that must be constants.

        Returns:
          Place among `graph.inputs` -> an operation that needs its value.
        """
        found = self._found.get(id(graph))
        if found is None:
            self._found[id(graph)] = {}  # a function that calls itself
            found = self._found[id(graph)] = self._walk(graph)
        return found

    def _walk(self, graph: Any) -> dict[int, Any]:
        places = {tensor.op.name: place for place, tensor in enumerate(graph.inputs)}
        found: dict[int, Any] = {}
        seen = set()
        pending = [
            (tensor, needing)
            for operation in _that_run(graph)
            for tensor, needing in self._needed_by(operation)
        ]
        while pending:
            tensor, needing = pending.pop()
            operation = tensor.op
            place = places.get(operation.name)
            if place is not None:
                found.setdefault(place, needing)
            elif operation.type in _PASS_EACH_ON:
                pending.append((operation.inputs[tensor.value_index], needing))
            elif operation.type not in _KNOWN_FROM_SHAPES and operation.name not in seen:
                seen.add(operation.name)
                pending += [(each, needing) for each in operation.inputs]
        return found

    def _needed_by(self, operation: Any) -> Iterator[tuple[Any, Any]]:
        """Inputs of an operation that must be constants, each with the operation that says so."""
        if names := NEEDED_BY.get(operation.type):
            for name, tensors in _by_argument(operation):
                if name in names:
                    yield from ((tensor, operation) for tensor in tensors)
        elif operation.type in _CALLS:
            attributes, before = _CALLS[operation.type]
            for attribute in attributes:
                inner = _graph_of(operation, attribute)
                for place, needing in self.of(inner).items() if inner is not None else ():
                    if operation.type not in _LOOPS or _stays(operation, place):
                        yield operation.inputs[before + place], needing


def _that_run(graph: Any) -> list[Any]:
    """Operations that an output or a side effect of the graph depends on; XLA drops the others."""
    found = {tensor.op.name: tensor.op for tensor in graph.outputs}
    found |= {operation.name: operation for operation in graph.control_outputs}
    pending = list(found.values())
    while pending:
        operation = pending.pop()
        before = [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]
        new = [each for each in before if each.name not in found]
        found |= {each.name: each for each in new}
        pending += new
    return list(found.values())


def _by_argument(operation: Any) -> Iterator[tuple[str, Iterable[Any]]]:
    """Arguments by name, each with its tensors: some take a list of them."""
    inputs = operation.inputs
    first = 0
    for argument in operation.op_def.input_arg:
        count = operation.get_attr(argument.number_attr) if argument.number_attr else 1
        yield argument.name, inputs[first : first + count]
        first += count


def _graph_of(operation: Any, attribute: str) -> Any:
    """The graph that an attribute names, None where Python has not traced it."""
    name = operation.get_attr(attribute).name
    return getattr(operation.graph._get_function(name), "graph", None)


def _stays(loop: Any, place: int) -> bool:
    """Whether the body of a loop hands an input on as it came; else it is no constant."""
    body = _graph_of(loop, "body")
    if body is None:
        return False
    tensor = body.outputs[place]
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor is body.inputs[place]


@dataclass(frozen=True, slots=True)
class NeededValue:
    """An argument or a variable, whose value XLA makes a part of the program that it compiles."""

    place: int
    """Among the arguments, and after them the captures, of the function."""
    text: str
    """What it is and who needs it: "begin, for Slice (train.py:41)"."""
    is_variable: bool = False
    """Then its input is the handle of the variable."""

    def read(self, arguments: Sequence[Any], captures: Sequence[Any]) -> bytes:
        """Its value now. What XLA needs as a constant is read by TensorFlow in each call anyhow.

        Args:
          arguments: Eager tensors, as `ConcreteFunction._call_flat` is given them.
          captures: Captured tensors, as it is given them.
        """
        inside = self.place - len(arguments)
        tensor = arguments[self.place] if inside < 0 else captures[inside]
        if self.is_variable:
            tensor = _read_variable(tensor)
        value: bytes = tensor.numpy().tobytes()
        return value


def arguments_of(function: Any) -> list[Any]:
    """Inputs of a `ConcreteFunction`, in the order of its graph; captures come after them."""
    inputs: list[Any] = function.inputs
    return inputs[: len(inputs) - len(function.captured_inputs)]


def needed_values(function: Any, places: SourcePlaces) -> list[NeededValue]:
    """What XLA needs to know of a `ConcreteFunction`, without captured tensors: those stay."""
    import tensorflow as tf

    arguments = len(arguments_of(function))
    found = []
    for place, operation in sorted(ConstantInputs().of(function.graph).items()):
        is_variable = function.inputs[place].dtype == tf.resource
        if place < arguments or is_variable:
            text = f"{_name(function, place)}, for {_described(operation, places)}"
            found.append(NeededValue(place, text, is_variable))
    return found


def _read_variable(handle: Any) -> Any:
    import tensorflow as tf
    from tensorflow.python.ops import gen_resource_variable_ops as resources

    (content,) = handle._handle_data.shape_and_type
    return resources.read_variable_op(handle, tf.as_dtype(content.dtype))


def _name(function: Any, place: int) -> str:
    """As the user wrote it, where TensorFlow knows."""
    inputs, captures = function.inputs, function.captured_inputs
    inside = place - len(inputs)
    if inside >= -len(captures):
        for variable in function.graph.variables:
            if variable.handle is captures[inside]:
                return f"the variable {variable.name.partition(':')[0]}"
    try:
        return str(inputs[place].op.get_attr("_user_specified_name").decode())
    except ValueError:  # it has none
        return f"argument {place}"


def _described(operation: Any, places: SourcePlaces) -> str:
    frames = list(operation.traceback.get_user_frames())
    if not frames:
        return str(operation.type)
    return f"{operation.type} ({places.at(frames[-1].filename, frames[-1].lineno)})"

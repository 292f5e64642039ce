"""Which tensors of a traced graph are zero whatever is fed: products of a zero, and what they make.

A part of a model is often frozen by a factor of 0 for its gradients, or by a loss of weight 0. What
computes them runs as before. The factor is a constant of the graph, or a number that it reads.

Cost: 5 us an operation of a graph, once, and 7 us for each number that is read.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

_EITHER: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("Mul", "MulNoNan", "MatMul", "BatchMatMulV2", "BatchMatMulV3"), (0, 1)),
    **dict.fromkeys(("Neg", "Identity", "Cast", "StopGradient", "Square", "Sqrt"), (0,)),
    **dict.fromkeys(("Reshape", "Transpose", "Tile", "BroadcastTo", "Squeeze"), (0,)),
    **dict.fromkeys(("ExpandDims", "Slice", "StridedSlice", "Sum", "Mean", "Pad"), (0,)),
    **dict.fromkeys(("RealDiv", "DivNoNan", "BiasAddGrad", "GatherV2"), (0,)),
    **dict.fromkeys(("ReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad"), (0,)),
    **dict.fromkeys(("FusedBatchNormGradV3", "LeakyReluGrad", "Relu6Grad"), (0,)),
    **dict.fromkeys(("TanhGrad", "SigmoidGrad", "AvgPoolGrad"), (1,)),
    **dict.fromkeys(("Conv2DBackpropInput", "Conv3DBackpropInputV2"), (1, 2)),
    **dict.fromkeys(("Conv2DBackpropFilter", "Conv3DBackpropFilterV2"), (0, 2)),
    **dict.fromkeys(("Conv2D", "Conv3D", "DepthwiseConv2dNative", "Einsum"), (0, 1)),
    "DepthwiseConv2dNativeBackpropInput": (1, 2),
    "DepthwiseConv2dNativeBackpropFilter": (0, 2),
    **dict.fromkeys(("ResizeBilinearGrad", "ResizeNearestNeighborGrad"), (0,)),
    **dict.fromkeys(("SqrtGrad", "RsqrtGrad", "ReciprocalGrad"), (1,)),
    "MaxPoolGrad": (2,),
    "Fill": (1,),
}
"""Operation -> its inputs of which one that is zero makes all that it returns zero."""

_ALL: Final = {
    **dict.fromkeys(("AddN", "AddV2", "Add", "Sub", "Pack"), slice(None)),
    **dict.fromkeys(("Select", "SelectV2"), slice(1, None)),
}
"""Operation -> its inputs of which all have to be zero for what it returns to be zero."""

_ZEROS_LIKE: Final = "ZerosLike"

_MOST_NUMBERS: Final = 1000
"""Of a constant: zeros of a known shape are one up to so many, and a `Fill` beyond."""


class GraphNumber:
    """A single number that a graph reads each time: of a variable, or kept from outside."""

    def __init__(self, tensor: Any, source: Any) -> None:
        """Keeps neither alive.

        Args:
          tensor: What the graph has of it.
          source: The variable's handle, or the number's tensor.
        """
        self.tensor: Final = str(tensor.name)
        self.graph: Final = weakref.ref(tensor.graph)
        self._source: Final = weakref.ref(source)
        self._dtype: Final = tensor.dtype

    def is_zero(self) -> bool:
        """Now; a number that is gone is not."""
        source = self._source()
        if source is None:
            return False
        if source.dtype == self._dtype:
            return not source.numpy()
        from tensorflow.python.framework import errors
        from tensorflow.python.ops import gen_resource_variable_ops as resources

        try:
            return not resources.read_variable_op(source, self._dtype).numpy()
        except errors.OpError:  # the variable is gone, its handle isn't
            return False


def find_numbers(tensors: Iterable[Any]) -> list[GraphNumber]:
    """The single numbers from outside of which some tensors of one graph are made."""
    found: list[GraphNumber] = []
    known: set[Any] = set()
    ahead = [tensor.op for tensor in tensors]
    while ahead:
        operation = ahead.pop()
        if operation in known:
            continue
        known.add(operation)
        ahead += [each.op for each in operation.inputs]
        if operation.type == "ReadVariableOp":
            source = _find_outside(operation.inputs[0])
        elif operation.type == "Placeholder":
            source = _find_outside(operation.outputs[0])
        else:
            continue
        (tensor,) = operation.outputs
        if source is not None and tensor.dtype.is_floating and tensor.shape.rank == 0:
            found.append(GraphNumber(tensor, source))
    return found


def find_zeros(graph: Any, zeros: Collection[str], but: Collection[str] = frozenset()) -> set[str]:
    """The names of the tensors that are zero whenever some others are.

    Args:
      graph: One that has been traced.
      zeros: The names of the tensors that are known to be zero.
      but: The names of tensors that don't count as such.
    """
    found = set(zeros)
    for operation in graph.get_operations():  # each after what it needs
        if operation.outputs and operation.outputs[0].name in but:
            continue
        if operation.type == "Const":
            zero = is_zero_constant(operation)
        elif operation.type == _ZEROS_LIKE:
            zero = True
        elif operation.type in _ALL:
            zero = all(each.name in found for each in operation.inputs[_ALL[operation.type]])
        else:
            inputs, places = operation.inputs, _EITHER.get(operation.type, ())
            zero = any(each < len(inputs) and inputs[each].name in found for each in places)
        if zero:
            found.update(each.name for each in operation.outputs)
    return found


def is_zero_constant(operation: Any) -> bool:
    """Of a few numbers; what is larger is not looked at."""
    (output,) = operation.outputs
    if not output.dtype.is_floating or not 1 <= output.shape.num_elements() <= _MOST_NUMBERS:
        return False
    value = operation.get_attr("value")
    if value.tensor_content:
        return not any(value.tensor_content)
    return not any((*value.float_val, *value.double_val, *value.half_val))


def _find_outside(tensor: Any) -> Any:
    """What a graph, or one around it, has captured as this tensor; None for its arguments."""
    while (graph := getattr(tensor, "graph", None)) is not None:
        outside = [outer for outer, inner in getattr(graph, "captures", ()) if inner is tensor]
        if not outside:
            return None
        (tensor,) = outside
    return tensor

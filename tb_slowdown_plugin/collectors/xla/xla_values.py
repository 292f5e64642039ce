"""The inputs of one jitted function that XLA needs to know by value: what they are, and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.xla.constant_inputs import ConstantInputs


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
          captures: Likewise.
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

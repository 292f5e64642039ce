"""Which inputs XLA needs by value, for graphs that TensorFlow has really traced."""

import functools
import time

import pytest

from tb_slowdown_plugin.collectors.xla.constant_inputs import NEEDED_BY, ConstantInputs

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SIZE = tf.TensorSpec([], tf.int32)
X = tf.TensorSpec([20], tf.float32)


def needed(function, *signature):
    """Place of an input -> type of the operation that needs its value."""
    traced = tf.function(function, jit_compile=True, input_signature=signature)
    graph = traced.get_concrete_function().graph
    return {place: each.type for place, each in ConstantInputs().of(graph).items()}


def test_the_operations_have_the_arguments_that_are_named():
    from tensorflow.python.framework import op_def_registry

    for operation, names in NEEDED_BY.items():
        definition = op_def_registry.get(operation)
        assert definition is not None, operation
        assert names <= {argument.name for argument in definition.input_arg}, operation
        assert not any(argument.type_list_attr for argument in definition.input_arg), operation


@functools.cache
def table():
    """(operation, argument) -> (the other arguments, two values for which XLA compiles)."""
    row, matrix, image = tf.ones([20]), tf.ones([4, 6]), tf.ones([1, 8, 8, 4])
    ids = tf.zeros([20], tf.int32)
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    masks = {f"{name}_mask": bits for name, bits in masks.items()}
    slice_ = {"input": row, "begin": [0], "end": [4], "strides": [1], **masks}
    assign = {"begin": [0], "end": [2], "strides": [1], "value": tf.ones([2]), **masks}
    axes = {"values": (0, 1)}
    sizes = {"values": (3, 5)}
    lengths = {"values": ([3], [5])}
    seeded = {"key": tf.zeros([1], tf.uint64), "counter": tf.zeros([2], tf.uint64), "alg": 1}
    space = {"block_shape": [2, 2], "values": ([[0, 0], [0, 0]], [[1, 1], [1, 1]])}
    pads = {"values": ([[1, 0], [0, 0]], [[0, 1], [0, 0]])}
    diagonal = {"values": (0, 1), "padding_value": 0.0}
    weights = {"weights": tf.constant([], tf.float32)}
    reduced = {"input": matrix, **axes}
    truths = {"input": matrix > 0, **axes}
    segments = {"data": row, "segment_ids": ids, **sizes}
    resized = {"images": image, "values": ([3, 3], [4, 4])}
    normal = {"dtype": tf.float32, **lengths}
    return {
        ("ConcatV2", "axis"): {"list": [matrix, matrix], **axes},
        ("CumulativeLogsumexp", "axis"): {"x": matrix, **axes},
        ("Cumprod", "axis"): {"x": matrix, **axes},
        ("Cumsum", "axis"): {"x": matrix, **axes},
        ("GatherV2", "axis"): {"params": matrix, "indices": [0], **axes},
        ("ReverseV2", "axis"): {"tensor": matrix, "values": ([0], [1])},
        ("Roll", "axis"): {"input": matrix, "shift": 1, **axes},
        ("Slice", "begin"): {"input": row, "size": [2], **lengths},
        ("Slice", "size"): {"input": row, "begin": [2], **lengths},
        ("StridedSlice", "begin"): {**slice_, "values": ([1], [2])},
        ("StridedSlice", "end"): {**slice_, "values": ([1], [2])},
        ("StridedSlice", "strides"): {**slice_, "values": ([1], [2])},
        ("ResourceStridedSliceAssign", "begin"): {**assign, "end": [9], "values": ([7], [7 - 20])},
        ("ResourceStridedSliceAssign", "end"): {**assign, "values": ([2], [2 - 20])},
        ("BatchToSpaceND", "block_shape"): {
            "input": tf.ones([4, 4, 4, 1]),
            "crops": [[0, 0], [0, 0]],
            "values": ([2, 2], [1, 4]),
        },
        ("BatchToSpaceND", "crops"): {"input": tf.ones([4, 4, 4, 1]), **space},
        ("SpaceToBatchND", "block_shape"): {
            "input": image,
            "paddings": [[0, 0], [0, 0]],
            "values": ([2, 2], [4, 4]),
        },
        ("SpaceToBatchND", "paddings"): {"input": image, **space},
        ("Range", "start"): {"limit": 9, "delta": 1, **sizes},
        ("Range", "limit"): {"start": 0, "delta": 1, **sizes},
        ("Range", "delta"): {"start": 0, "limit": 9, **sizes},
        ("OneHot", "depth"): {"indices": [0], "on_value": 1.0, "off_value": 0.0, **sizes},
        ("ExpandDims", "dim"): {"input": matrix, **axes},
        ("ArgMax", "dimension"): {"input": matrix, **axes},
        ("ArgMin", "dimension"): {"input": matrix, **axes},
        ("Fill", "dims"): {"value": 1.0, **lengths},
        ("DynamicStitch", "indices"): {"data": [row[:2]], "values": ([0, 1], [1, 0])},
        ("Conv2DBackpropInput", "input_sizes"): {
            "filter": tf.ones([3, 3, 2, 2]),
            "out_backprop": tf.ones([1, 4, 4, 2]),
            "strides": [1, 2, 2, 1],
            "padding": "SAME",
            "values": ([1, 8, 8, 2], [1, 7, 7, 2]),
        },
        ("MatrixDiagPartV3", "k"): {"input": matrix, **diagonal},
        ("MatrixDiagV3", "k"): {"diagonal": row, "num_rows": -1, "num_cols": -1, **diagonal},
        ("MatrixSetDiagV3", "k"): {
            "input": tf.zeros([4, 4]),
            "diagonal": row[:3],
            "values": (1, -1),
        },
        ("TopKV2", "k"): {"input": row, **sizes},
        ("Tile", "multiples"): {"input": row, **lengths},
        ("LinSpace", "num"): {"start": 0.0, "stop": 1.0, **sizes},
        ("TensorListReserve", "num_elements"): {
            "element_shape": tf.constant([], tf.int32),
            "element_dtype": tf.float32,
            **sizes,
        },
        ("Multinomial", "num_samples"): {"logits": matrix, **sizes},
        ("StatelessMultinomial", "num_samples"): {"logits": matrix, "seed": [1, 2], **sizes},
        **{
            (f"UnsortedSegment{name}", "num_segments"): segments
            for name in ("Max", "Min", "Prod", "Sum")
        },
        ("MirrorPad", "paddings"): {"input": matrix, "mode": "REFLECT", **pads},
        ("Pad", "paddings"): {"input": matrix, **pads},
        ("PadV2", "paddings"): {"input": matrix, "constant_values": 1.0, **pads},
        ("ConjugateTranspose", "perm"): {
            "x": tf.cast(matrix, tf.complex64),
            "values": ([0, 1], [1, 0]),
        },
        ("Transpose", "perm"): {"x": matrix, "values": ([0, 1], [1, 0])},
        **{(name, "reduction_indices"): reduced for name in ("Max", "Mean", "Min", "Prod", "Sum")},
        **{(name, "reduction_indices"): truths for name in ("All", "Any")},
        ("BroadcastArgs", "s0"): {"s1": [5], "values": ([3, 5], [4, 5])},
        ("BroadcastArgs", "s1"): {"s0": [5], "values": ([3, 5], [4, 5])},
        ("BroadcastTo", "shape"): {"input": 1.0, **lengths},
        ("Empty", "shape"): {"init": True, **normal},
        ("RandomStandardNormal", "shape"): normal,
        ("RandomUniform", "shape"): normal,
        ("RandomUniformInt", "shape"): {"minval": 0, "maxval": 9, **lengths},
        ("Reshape", "shape"): {"tensor": row, "values": ([4, 5], [5, 4])},
        ("ScatterNd", "shape"): {"indices": [[0]], "updates": [1.0], **lengths},
        ("StatelessRandomNormalV2", "shape"): {**seeded, **lengths},
        ("StatelessRandomUniformIntV2", "shape"): {"minval": 0, "maxval": 9, **seeded, **lengths},
        ("StatelessRandomUniformV2", "shape"): {**seeded, **lengths},
        ("StatelessTruncatedNormalV2", "shape"): {**seeded, **lengths},
        ("TruncatedNormal", "shape"): normal,
        ("Bincount", "size"): {"arr": ids, **weights, **sizes},
        ("DenseBincount", "size"): {"input": ids, **weights, **sizes},
        ("ResizeBilinear", "size"): resized,
        ("ResizeNearestNeighbor", "size"): resized,
        ("SplitV", "size_splits"): {
            "value": row,
            "axis": 0,
            "num_split": 2,
            "values": ([3, 17], [4, 16]),
        },
        ("SplitV", "split_dim"): {
            "value": tf.ones([4, 4]),
            "size_splits": [1, 3],
            "num_split": 2,
            **axes,
        },
        ("Split", "split_dim"): {"value": matrix, "num_split": 2, **axes},
    }


def call_with(operation, argument, others):
    """A function of the argument that runs the operation and returns a number."""
    others = dict(others)
    if "list" in others:  # `values` are those that the argument takes
        others["values"] = others.pop("list")
    if operation == "ResourceStridedSliceAssign":
        others["ref"] = tf.Variable(tf.zeros([20])).handle

    name = {"reduction_indices": "axis", "dim": "axis", "split_dim": "axis"}.get(argument, argument)

    def call(value):
        given = [value] if argument == "indices" else value
        result = getattr(tf.raw_ops, operation)(**(others | {name: given}))
        if operation == "TensorListReserve":
            return tf.raw_ops.TensorListLength(input_handle=result)
        return [
            tf.reduce_sum(tf.abs(each) if each.dtype.is_complex else tf.cast(each, tf.float32))
            for each in tf.nest.flatten(result)
            if isinstance(each, tf.Tensor)  # an assignment has none
        ]

    return call


PAIRS = [
    (operation, argument)
    for operation in sorted(NEEDED_BY)
    for argument in sorted(NEEDED_BY[operation])
]


@pytest.mark.parametrize(("operation", "argument"), PAIRS)
def test_xla_compiles_again_for_a_new_value_of(operation, argument):
    others = dict(table()[operation, argument])
    values = [tf.constant(value) for value in others.pop("values")]
    jitted = tf.function(call_with(operation, argument, others), jit_compile=True, autograph=False)
    new, known = cpu_seconds(jitted, values)
    assert new[1] > 3 * min(known)
    graph = jitted.get_concrete_function(values[0]).graph
    assert {place: each.type for place, each in ConstantInputs().of(graph).items()} == {
        0: operation
    }


NO_CONSTANTS = {
    "gather": lambda n, x: tf.gather(x, n + tf.range(3)),
    "roll": lambda n, x: tf.roll(x, n, axis=0),
    "one hot": lambda n, x: tf.one_hot([n], 4),
    "mask": lambda n, x: tf.sequence_mask(n, 30),
    "update": lambda n, x: tf.tensor_scatter_nd_update(x, [[n]], [1.0]),
    "seed": lambda n, x: tf.random.stateless_uniform([4], [n, 1]),
    "end of numbers": lambda n, x: tf.raw_ops.LinSpace(
        start=0.0, stop=tf.cast(n, tf.float32), num=5
    ),
    "size of x": lambda n, x: tf.range(tf.shape(x)[0]) + n,
}


@pytest.mark.parametrize("name", NO_CONSTANTS)
def test_for_other_values_it_does_not(name):
    assert needed(NO_CONSTANTS[name], SIZE, X) == {}
    jitted = tf.function(NO_CONSTANTS[name], jit_compile=True)
    new, known = cpu_seconds(jitted, [tf.constant(n) for n in (4, 5, 10, 2)], tf.ones([20]))
    assert min(new[1:]) <= 0.1 * new[0], known  # that one compiled it


def cpu_seconds(function, values, *others):
    """What a call with each value takes for the first time, and for the second."""

    def measure(value):
        began = time.process_time()
        function(value, *others)
        return time.process_time() - began

    return [measure(value) for value in values], [measure(value) for value in values]


def test_functions_branches_and_loops_are_looked_into():
    @tf.function
    def inner(x, n):
        return tf.reduce_sum(tf.slice(x, [n], [2]))

    def branch(n, x):
        return tf.cond(x[0] > 0, lambda: inner(x, n), lambda: 0.0)

    def loop(n, x):
        return tf.while_loop(lambda i, _: i < 3, lambda i, sum_: (i + 1, sum_ + x[n]), (0, 0.0))[1]

    assert needed(lambda n, x: inner(x, n * 2), SIZE, X) == {0: "Slice"}
    assert needed(branch, SIZE, X) == {0: "Slice"}
    assert needed(loop, SIZE, X) == {0: "StridedSlice"}


def test_a_loop_counter_and_unused_operations_need_no_constant():
    def counts(n, x):
        return tf.while_loop(
            lambda i, _: i < 9, lambda i, sum_: (i + 1, sum_ + tf.gather(x, i)), (n, 0.0)
        )[1]

    def unused(n, x):
        tf.range(n)
        return x + 1.0

    assert needed(counts, SIZE, X) == {}
    assert needed(unused, SIZE, X) == {}

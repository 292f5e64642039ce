"""Models, losses, loops, and sizes of the trainings in `needless_trainings.py`.

Those with a last argument do what a step doesn't need where that is true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import keras
import tensorflow as tf

L: Final = keras.layers


class _Attend(L.Layer):
    def call(self, x: Any) -> Any:
        """Of each word to all of them."""
        return tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 8.0) @ x


def _sum_up(adjacency: Any, states: Any, weights: Any, longer: bool) -> Any:
    return (adjacency @ states) @ weights if longer else adjacency @ (states @ weights)


def _project(_adjacency: Any, states: Any, weights: Any, longer: bool) -> Any:
    if longer:
        return states @ tf.matmul(weights, weights, transpose_b=True)
    return tf.matmul(states @ weights, weights, transpose_b=True)


def _last(x: Any, layer: Any, head: Any, late: bool) -> Any:
    return head(layer(x))[:, -1] if late else head(layer(x[:, -1]))


def _diagonal(x: Any, layer: Any, head: Any, late: bool) -> Any:
    one = layer(x)
    other = head(one)[..., : one.shape[-1]]
    if late:
        return tf.linalg.diag_part(tf.matmul(one, other, transpose_b=True))
    return tf.reduce_sum(one * other, axis=-1)


def _in_python(states: Any, cell: Any, steps: int, units: int, sliced: bool) -> Any:
    state = tf.zeros((32, units))
    pieces = (states[:, t] for t in range(steps)) if sliced else tf.unstack(states, axis=1)
    for piece in pieces:
        state, _ = cell(piece, [state])
    return state


def _in_graph(states: Any, cell: Any, steps: int, units: int, sliced: bool) -> Any:
    state = tf.zeros((32, units))
    array = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(states, [1, 0, 2]))
    for t in tf.range(steps):
        state, _ = cell(states[:, t] if sliced else array.read(t), [state])
    return state


def _collected(states: Any, cell: Any, steps: int, units: int, grown: bool) -> Any:
    state, outputs = tf.zeros((32, units)), tf.zeros((32, 0, units))
    given = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(states, [1, 0, 2]))
    made = tf.TensorArray(tf.float32, steps)
    open_shape = tf.TensorShape([32, None, units])
    for t in tf.range(steps):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(outputs, open_shape)])
        state, _ = cell(given.read(t), [state])
        if grown:
            outputs = tf.concat([outputs, state[:, tf.newaxis]], 1)
        else:
            made = made.write(t, state)
    return outputs if grown else made.stack()


def _invert_and_slogdet(matrix: Any, y: Any) -> Any:
    return tf.reduce_sum(y * (tf.linalg.inv(matrix) @ y)) + tf.linalg.slogdet(matrix)[1]


def _invert_and_eigenvalues(matrix: Any, y: Any) -> Any:
    logs = tf.math.log(tf.linalg.eigvalsh(matrix))
    return tf.reduce_sum(y * (tf.linalg.inv(matrix) @ y)) + tf.reduce_sum(logs)


def _solve_and_logdet(matrix: Any, y: Any) -> Any:
    return tf.reduce_sum(y * tf.linalg.solve(matrix, y)) + tf.linalg.slogdet(matrix)[1]


def _correlate(pair: Any) -> Any:
    one, other = (each - tf.reduce_mean(each) for each in pair)
    return 1 - tf.reduce_sum(one * other) / (tf.norm(one) * tf.norm(other) + 1e-6)


def _match(pair: Any) -> Any:
    apart = tf.abs(pair[0][:, None] - pair[1][None, :])
    return tf.reduce_mean(tf.reduce_min(apart, 1)) + tf.reduce_mean(tf.exp(-(apart**2)))


def _multiply(pair: Any) -> Any:
    one, other = (tf.reshape(each, (8, 8)) for each in pair)
    return tf.reduce_mean((tf.matmul(one, other, transpose_a=True) - tf.eye(8)) ** 2)


def _of_layers(
    shape: tuple[int, ...], layers: Callable[[], list[Any]], dtype: str = "float32"
) -> Any:
    return lambda: keras.Sequential([keras.Input(shape, dtype=dtype), *layers()])


def _with_attention() -> Any:
    x = keras.Input((32, 64))
    attended = L.LayerNormalization()(x + L.MultiHeadAttention(4, 16)(x, x))
    wide = L.GlobalAveragePooling1D()(L.Dense(256, "relu")(attended))
    return keras.Model(x, L.Dense(10)(wide))


def _data(shape: tuple[int, ...], *, words: bool = False) -> tuple[Any, Any]:
    x = tf.ones(shape, tf.int32) if words else tf.random.normal(shape)
    return x, tf.zeros((shape[0],), tf.int32)


MODELS: Final[dict[str, tuple[Callable[[], Any], tuple[Any, Any]]]] = {
    "small dense layers": (
        _of_layers((32,), lambda: [L.Dense(64, "relu"), L.Dense(64, "relu"), L.Dense(10)]),
        _data((32, 32)),
    ),
    "dense layers": (
        _of_layers((256,), lambda: [L.Dense(512, "relu"), L.Dense(512, "relu"), L.Dense(10)]),
        _data((128, 256)),
    ),
    "dropout": (
        _of_layers((256,), lambda: [L.Dense(512, "relu"), L.Dropout(0.3), L.Dense(512, "relu"),
                                    L.BatchNormalization(), L.Dense(10)]),
        _data((128, 256)),
    ),
    "convolutions": (
        _of_layers((16, 16, 1), lambda: [L.Conv2D(32, 3, activation="relu"),
                                         L.Conv2D(32, 3, activation="relu"),
                                         L.GlobalAveragePooling2D(), L.Dense(10)]),
        _data((64, 16, 16, 1)),
    ),
    "embedding": (
        _of_layers((32,), lambda: [L.Embedding(5000, 64), L.Conv1D(128, 3, activation="relu"),
                                   L.GlobalAveragePooling1D(), L.Dense(10)], "int32"),
        _data((64, 32), words=True),
    ),
    "GRU": (
        _of_layers((20, 32), lambda: [L.Dense(32, "relu"), L.GRU(64), L.Dense(10)]),
        _data((64, 20, 32)),
    ),
    "attention": (_with_attention, _data((32, 32, 64))),
}  # fmt: skip

ATTENTIONS: Final = (
    (128, 24, 10, False), (256, 30, 8, False), (64, 40, 12, False),
    (64, 24, 10, True), (128, 24, 10, True), (192, 30, 8, True),
)  # fmt: skip

LOSSES: Final[dict[str, Callable[[Any], Any]]] = {
    "squares": lambda pair: tf.reduce_mean((pair[0] - pair[1]) ** 2),
    "correlation": _correlate,
    "distances": _match,
    "product": _multiply,
}

ROUNDS: Final[dict[str, Callable[..., Any]]] = {
    "map_fn": lambda of_one, both: tf.map_fn(of_one, both, fn_output_signature=tf.float32),
    "a loop of Python": lambda of_one, both: [
        of_one((both[0][at], both[1][at])) for at in range(both[0].shape[0])
    ],
}

SEQUENCES: Final = ((30, 64), (100, 64), (160, 64), (100, 128))

PIECES: Final[dict[str, Callable[..., Any]]] = {
    "slices in a loop of Python": _in_python,
    "slices in a loop of the graph": _in_graph,
    "outputs concatenated in a loop of the graph": _collected,
}

UNTAKEN: Final = ((20, 64), (100, 64), (100, 256), (400, 64))

TAKES: Final[dict[str, Callable[..., Any]]] = {
    "the last of each sequence taken behind both layers": _last,
    "a product of all pairs for its diagonal": _diagonal,
}

ENLARGED: Final = ((32, 2), (32, 4), (128, 4), (256, 4))

ORDERS: Final[dict[str, tuple[Callable[..., Any], tuple[tuple[int, int], ...]]]] = {
    "sums of neighbors made of wide rows": (_sum_up, ((400, 128), (800, 256), (2000, 64))),
    "a projection by its square": (_project, ((32, 256), (64, 1024), (128, 1024))),
}

PADDED: Final = ((256, 64), (320, 200), (500, 40))

READERS: Final[dict[str, Callable[[], list[Any]]]] = {
    "convolutions": lambda: [L.Conv1D(96, 5, padding="same"), L.Conv1D(96, 5, padding="same")],
    "attention": lambda: [L.Dense(64, "relu"), _Attend(), L.Dense(64, "relu")],
    "GRU": lambda: [L.GRU(64, return_sequences=True)],
}

REPORTED: Final = (32, 128, 512, 2048)

TABLES: Final = ((10_000, 64), (10_000, 1024), (60_000, 1024), (20_000, 2048))

FACTORED: Final = {
    "inverse and determinant": _invert_and_slogdet,
    "inverse and eigenvalues": _invert_and_eigenvalues,
    "solution and determinant": _solve_and_logdet,
}
"""What a Gaussian process takes of its covariance -> the terms of its loss."""


class DistancesOfPairs(keras.metrics.Mean):
    """The mean difference of the scores of all pairs of examples."""

    def update_state(self, _y: Any, scores: Any) -> None:
        """Counts a batch."""
        super().update_state(tf.abs(scores - tf.transpose(scores)) ** 1.5)


METRICS: Final = {
    "AUC of 500 thresholds of its own": lambda: keras.metrics.AUC(thresholds=_uneven(500)),
    "AUC of 3,000 thresholds of its own": lambda: keras.metrics.AUC(thresholds=_uneven(3000)),
    "distances of all pairs": DistancesOfPairs,
}
"""How a metric that takes long is made."""


def _uneven(count: int) -> list[float]:
    """Thresholds that aren't as far from each other."""
    return [(place / (count + 1)) ** 2 for place in range(1, count + 1)]

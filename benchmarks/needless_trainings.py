"""Trainings with work that they don't need, and their twins without it, for `needless_work.py`.

Each gives its step, and a list that has the loss and its gradients once it was traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import keras
import tensorflow as tf

L: Final = keras.layers
Asked = tuple[Any, list[Any]]
"""A loss, and its gradients."""


def _train(
    compute_loss: Callable[..., Any], find_variables: Callable[[], list[Any]], update: Any
) -> Any:
    """A step that learns by this loss; a variable without a gradient stays as it is."""
    asked: list[Asked] = []

    def step(*data: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = compute_loss(*data)
        variables = find_variables()  # layers make them when they are first called
        found = zip(tape.gradient(loss, variables), variables, strict=True)
        pairs = [pair for pair in found if pair[0] is not None]
        asked.append((loss, [gradient for gradient, _ in pairs]))
        update.apply_gradients(pairs)
        return loss

    return tf.function(step), asked


def _variables_of(*layers: Any) -> Callable[[], list[Any]]:
    return lambda: [each for layer in layers for each in layer.trainable_variables]


def _cross_entropy(y: Any, outputs: Any) -> Any:
    each = keras.losses.sparse_categorical_crossentropy(y, outputs, from_logits=True)
    return tf.reduce_mean(each)


def classify(build: Callable[[], Any], optimizer: Any, again: bool) -> Any:
    """A step of a classifier; again: its accuracy is that of another pass."""
    model, update = build(), optimizer()
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    asked: list[Asked] = []

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = _cross_entropy(y, outputs)
        gradients = tape.gradient(loss, model.trainable_variables)
        asked.append((loss, gradients))
        update.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(y, model(x, training=False) if again else outputs)
        return loss

    return tf.function(step), asked


def attend(units: int, rounds: int, recurrent: bool, in_graph: bool, again: bool) -> Any:
    """A step of a decoder; again: each round makes the keys of its attention."""
    encode = L.GRU(units, return_sequences=True) if recurrent else L.Dense(units, "relu")
    project, query, score = L.Dense(units, use_bias=False), L.Dense(units), L.Dense(1)
    cell, word, update = L.GRUCell(units), L.Dense(50), keras.optimizers.Adam()
    for each in (query, score, cell, word):  # not in a loop of the graph
        each.build((None, units))
    count_up = tf.range if in_graph else range

    def compute_loss(x: Any, y: Any) -> Any:
        memory = encode(x)
        state, loss, keys = tf.reduce_mean(memory, 1), 0.0, project(memory)
        for at in count_up(rounds):
            made = project(memory) if again else keys
            weights = tf.nn.softmax(score(tf.tanh(query(state)[:, None] + made)), 1)
            _, (state,) = cell(tf.reduce_sum(weights * memory, 1), [state])
            loss += _cross_entropy(y[:, at], word(state))
        return loss

    return _train(compute_loss, _variables_of(encode, project, query, score, cell, word), update)


def look_up(rows: int, units: int, before: bool) -> Any:
    """A step of a layer on rows of a table; before: all are normalized before the lookup."""
    table = tf.Variable(tf.random.normal((rows, 64)))
    layer, update = L.Dense(units), keras.optimizers.SGD(0.01)
    layer.build((None, 64))

    def compute_loss(ids: Any) -> Any:
        if before:
            looked_up = tf.gather(tf.math.l2_normalize(table, axis=1), ids)
        else:
            looked_up = tf.math.l2_normalize(tf.gather(table, ids), axis=1)
        return tf.reduce_mean(layer(looked_up) ** 2)

    return _train(compute_loss, lambda: [table, *layer.trainable_variables], update)


def map_losses(units: int, loss_of_one: Callable[[Any], Any], in_loop: bool) -> Any:
    """A step whose loss is made example by example; in a loop: by `map_fn`."""
    layers, update = keras.Sequential([L.Dense(units, "relu"), L.Dense(64)]), keras.optimizers.SGD()
    layers.build((None, 64))

    def compute_loss(x: Any, y: Any) -> Any:
        both = layers(x), y
        if in_loop:
            losses = tf.map_fn(loss_of_one, both, fn_output_signature=tf.float32)
        else:
            losses = tf.vectorized_map(loss_of_one, both)
        return tf.reduce_mean(losses)

    return _train(compute_loss, _variables_of(layers), update)


def recur_over(steps: int, units: int, recur: Callable[..., Any], piecewise: bool) -> Any:
    """A step of a recurrent cell behind a layer; piecewise: as one loop over the sequence does."""
    layer, cell, head = L.Dense(units), L.GRUCell(units), L.Dense(1)
    for each in (cell, head):  # not in a loop of the graph
        each.build((None, units))
    update = keras.optimizers.SGD(0.01)

    def compute_loss(x: Any) -> Any:
        outputs = recur(layer(x), cell, steps, units, piecewise)
        return tf.reduce_mean(head(outputs) ** 2)

    return _train(compute_loss, _variables_of(layer, cell, head), update)


def enlarge(channels: int, times: int, first: bool) -> Any:
    """A step of two convolutions; first: pixels are repeated before the last one of a pixel."""
    last = L.Conv2D(8, 1)
    layers = [L.UpSampling2D(times), last] if first else [last, L.UpSampling2D(times)]
    before = L.Conv2D(channels, 3, padding="same", activation="relu")
    model = keras.Sequential([keras.Input((16, 16, channels)), before, *layers])
    update = keras.optimizers.SGD(0.01)
    return _train(lambda x: tf.reduce_mean(model(x) ** 2), _variables_of(model), update)


def read_words(columns: int, used: int, layers: Callable[[], list[Any]], padded: bool) -> Any:
    """A step on texts of so many words; padded: to so many columns."""
    model = keras.Sequential([L.Embedding(5000, 64), *layers(), L.GlobalMaxPooling1D(), L.Dense(8)])
    model.build((32, columns))
    update = keras.optimizers.SGD(0.01)

    def compute_loss(x: Any, y: Any) -> Any:
        return _cross_entropy(y, model(x if padded else x[:, :used], training=True))

    return _train(compute_loss, _variables_of(model), update)


class _Attend(L.Layer):
    def call(self, x: Any) -> Any:
        """Of each word to all of them."""
        return tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 8.0) @ x


def multiply(nodes: int, units: int, make_outputs: Callable[..., Any], longer: bool) -> Any:
    """A step of a layer and three matrices; longer: these are multiplied in the longer order."""
    adjacency = tf.random.uniform((nodes, nodes), maxval=2 / nodes)
    layer, update = L.Dense(units, "relu"), keras.optimizers.SGD(0.01)
    layer.build((None, units))
    weights = tf.Variable(tf.random.normal((units, 16), stddev=0.05))

    def compute_loss(x: Any) -> Any:
        return tf.reduce_mean(make_outputs(adjacency, layer(x), weights, longer) ** 2)

    return _train(compute_loss, lambda: [*layer.trainable_variables, weights], update)


def _sum_up(adjacency: Any, states: Any, weights: Any, longer: bool) -> Any:
    return (adjacency @ states) @ weights if longer else adjacency @ (states @ weights)


def _project(_adjacency: Any, states: Any, weights: Any, longer: bool) -> Any:
    if longer:
        return states @ tf.matmul(weights, weights, transpose_b=True)
    return tf.matmul(states @ weights, weights, transpose_b=True)


def take_rows(units: int, make_outputs: Callable[..., Any], late: bool) -> Any:
    """A step of two layers; late: the rows that it needs are taken at the end."""
    layer, head, update = L.Dense(units, "relu"), L.Dense(2 * units), keras.optimizers.SGD(0.01)
    layer.build((None, units))
    head.build((None, units))

    def compute_loss(x: Any) -> Any:
        return tf.reduce_mean(make_outputs(x, layer, head, late) ** 2)

    return _train(compute_loss, _variables_of(layer, head), update)


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


def _correlate(pair: Any) -> Any:
    one, other = (each - tf.reduce_mean(each) for each in pair)
    return 1 - tf.reduce_sum(one * other) / (tf.norm(one) * tf.norm(other) + 1e-6)


def _match(pair: Any) -> Any:
    apart = tf.abs(pair[0][:, None] - pair[1][None, :])
    return tf.reduce_mean(tf.reduce_min(apart, 1)) + tf.reduce_mean(tf.exp(-(apart**2)))


def _multiply(pair: Any) -> Any:
    one, other = (tf.reshape(each, (8, 8)) for each in pair)
    return tf.reduce_mean((tf.matmul(one, other, transpose_a=True) - tf.eye(8)) ** 2)


def report(writer: Any, units: int, writes: bool) -> Any:
    """A step of two layers; writes: histograms of their weights, and of the gradients."""
    layers, update = (
        keras.Sequential([L.Dense(units, "relu"), L.Dense(units)]),
        keras.optimizers.SGD(),
    )
    layers.build((None, units))
    asked: list[Asked] = []

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layers(x) ** 2)
        variables = layers.trainable_variables
        gradients = tape.gradient(loss, variables)
        asked.append((loss, gradients))
        update.apply_gradients(zip(gradients, variables, strict=True))
        if writes:
            with writer.as_default(step=0):
                for number, each in enumerate((*variables, *gradients)):
                    tf.summary.histogram(str(number), each)
        return loss

    return tf.function(step), asked


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

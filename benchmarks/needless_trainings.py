"""Trainings with work that they don't need, and their twins without it, for `needless_work.py`.

Each gives its step, and a list that has the loss and its gradients once it was traced. What varies
in them is in `needless_variants.py`.
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


def map_losses(
    units: int, loss_of_one: Callable[[Any], Any], one_by_one: Callable[..., Any], in_loop: bool
) -> Any:
    """A step whose loss is made of each example; in a loop: one by one."""
    layers, update = keras.Sequential([L.Dense(units, "relu"), L.Dense(64)]), keras.optimizers.SGD()
    layers.build((None, 64))

    def compute_loss(x: Any, y: Any) -> Any:
        both = layers(x), y
        compute_each = one_by_one if in_loop else tf.vectorized_map
        return tf.reduce_mean(compute_each(loss_of_one, both))

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


def multiply(nodes: int, units: int, make_outputs: Callable[..., Any], longer: bool) -> Any:
    """A step of a layer and three matrices; longer: these are multiplied in the longer order."""
    adjacency = tf.random.uniform((nodes, nodes), maxval=2 / nodes)
    layer, update = L.Dense(units, "relu"), keras.optimizers.SGD(0.01)
    layer.build((None, units))
    weights = tf.Variable(tf.random.normal((units, 16), stddev=0.05))

    def compute_loss(x: Any) -> Any:
        return tf.reduce_mean(make_outputs(adjacency, layer(x), weights, longer) ** 2)

    return _train(compute_loss, lambda: [*layer.trainable_variables, weights], update)


def harden(build: Callable[[], Any], through_sign: bool) -> Any:
    """A step on adversarial examples; through their sign: inside of the tape that trains."""
    model, update = build(), keras.optimizers.SGD(0.01)

    def compute_loss(x: Any, y: Any) -> Any:
        with tf.GradientTape() as probe:
            probe.watch(x)
            clean = _cross_entropy(y, model(x, training=True))
        direction = tf.sign(probe.gradient(clean, x))
        shifted = x + 0.02 * (direction if through_sign else tf.stop_gradient(direction))
        return _cross_entropy(y, model(shifted, training=True))

    return _train(compute_loss, _variables_of(model), update)


def weigh(build: Callable[[], Any], weightless: bool) -> Any:
    """A step with a loss by another model's outputs; weightless: whose weight is 0."""
    model, judge, update = build(), build(), keras.optimizers.SGD(0.01)

    def compute_loss(x: Any, y: Any) -> Any:
        outputs = model(x, training=True)
        loss = _cross_entropy(y, outputs)
        if weightless:
            judged = judge(x * tf.reduce_mean(outputs), training=False)
            loss += 0.0 * tf.reduce_mean(judged**2)
        return loss

    return _train(compute_loss, _variables_of(model), update)


def fit_process(rows: int, make_terms: Callable[[Any, Any], Any], several: bool) -> Any:
    """A step of a Gaussian process on features; several: its covariance is factorized twice."""
    layer, update = L.Dense(6, "tanh"), keras.optimizers.SGD(0.001)
    layer.build((None, 8))

    def compute_loss(x: Any, y: Any) -> Any:
        features = layer(x)
        covariance = tf.matmul(features, features, transpose_b=True) + tf.eye(rows)
        if several:
            return make_terms(covariance, y)
        factor = tf.linalg.cholesky(covariance)
        fit = tf.reduce_sum(y * tf.linalg.cholesky_solve(factor, y))
        return fit + 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))

    return _train(compute_loss, _variables_of(layer), update)


def take_rows(units: int, make_outputs: Callable[..., Any], late: bool) -> Any:
    """A step of two layers; late: the rows that it needs are taken at the end."""
    layer, head, update = L.Dense(units, "relu"), L.Dense(2 * units), keras.optimizers.SGD(0.01)
    layer.build((None, units))
    head.build((None, units))

    def compute_loss(x: Any) -> Any:
        return tf.reduce_mean(make_outputs(x, layer, head, late) ** 2)

    return _train(compute_loss, _variables_of(layer, head), update)


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


def score(units: int, metric: Any, measures: bool) -> Any:
    """A step of two layers for one score an example; measures: a metric of it is updated."""
    layers, update = (
        keras.Sequential([L.Dense(units, "relu"), L.Dense(1, "sigmoid")]),
        keras.optimizers.SGD(),
    )
    layers.build((None, units))
    asked: list[Asked] = []

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            scores = layers(x)
            loss = tf.reduce_mean((scores - y) ** 2)
        variables = layers.trainable_variables
        gradients = tape.gradient(loss, variables)
        asked.append((loss, gradients))
        update.apply_gradients(zip(gradients, variables, strict=True))
        if measures:
            metric.update_state(y, scores)
        return loss

    return tf.function(step), asked


def renew(rows: int, every: int, always: bool) -> Any:
    """A step with an inverse that is renewed each so many steps; always: it is made in each."""
    weights = tf.Variable(tf.random.normal((rows, rows)) / rows**0.5)
    inverse, count = tf.Variable(tf.eye(rows)), tf.Variable(0)
    asked: list[Asked] = []

    def invert() -> Any:
        return tf.linalg.inv(tf.matmul(weights, weights, transpose_b=True) + tf.eye(rows))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(x, weights) ** 2)
        gradient = tape.gradient(loss, weights)
        asked.append((loss, [gradient]))
        due, before = tf.equal(count % every, 0), tf.convert_to_tensor(inverse)
        inverse.assign(
            tf.where(due, invert(), before) if always else tf.cond(due, invert, lambda: before)
        )
        weights.assign_sub(0.01 * tf.matmul(inverse, gradient))
        count.assign_add(1)
        return loss

    return tf.function(step, autograph=False), asked


def derive(units: int, by_all: bool) -> Any:
    """A step on derivatives at some points; by_all: of all of them, by the input of each."""
    weights = [
        tf.Variable(tf.random.normal((rows, columns)) / rows**0.5)
        for rows, columns in ((1, units), (units, units), (units, 1))
    ]
    asked: list[Asked] = []

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                hidden = x[:, None]
                for each in weights[:-1]:
                    hidden = tf.tanh(tf.matmul(hidden, each))
                made = tf.matmul(hidden, weights[-1])[:, 0]
            if by_all:
                slope = tf.linalg.diag_part(inner.jacobian(made, x))
            else:
                slope = inner.gradient(made, x)
            loss = tf.reduce_mean(tf.square(slope - tf.cos(x)))
        gradients = tape.gradient(loss, weights)
        asked.append((loss, gradients))
        for each, gradient in zip(weights, gradients, strict=True):
            each.assign_sub(0.01 * gradient)
        return loss

    return tf.function(step, autograph=False), asked


def tag(tags: int, units: int, one_by_one: bool) -> Any:
    """A step of a network with so many tags; one_by_one: each of them has a layer of its own."""
    body = keras.Sequential([L.Dense(units, "relu"), L.Dense(units, "relu")])
    heads = [L.Dense(1) for _ in range(tags)] if one_by_one else [L.Dense(tags)]
    update = keras.optimizers.Adam()

    def compute_loss(x: Any, y: Any) -> Any:
        features = body(x)
        logits = tf.concat([head(features) for head in heads], axis=1)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))

    return _train(compute_loss, _variables_of(body, *heads), update)


def embed(columns: int, units: int, one_by_one: bool) -> Any:
    """A step on columns of categories; one_by_one: each of them has a table of its own."""
    rows = 50
    tables = [L.Embedding(rows, 8) for _ in range(columns)]
    if not one_by_one:
        tables = [L.Embedding(columns * rows, 8)]
    body = keras.Sequential([L.Flatten(), L.Dense(units, "relu"), L.Dense(1)])
    update = keras.optimizers.Adam()

    def compute_loss(ids: Any, y: Any) -> Any:
        if one_by_one:
            parts = tf.stack([table(ids[:, n]) for n, table in enumerate(tables)], axis=1)
        else:
            parts = tables[0](ids + rows * tf.range(columns))
        return tf.reduce_mean((body(parts) - y) ** 2)

    return _train(compute_loss, _variables_of(*tables, body), update)

"""What a step takes for work that it doesn't need, against what its graph says of it.

    python benchmarks/needless_work.py                   # 161 pairs of trainings
    python benchmarks/needless_work.py --only sequence

A training and its twin without that work take turns in one process. "Saved" is the share of the
step that the twin doesn't take, "counted" what the report would say.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

from benchmarks.needless_trainings import (
    Asked,
    attend,
    classify,
    derive,
    embed,
    enlarge,
    fit_process,
    harden,
    look_up,
    map_losses,
    multiply,
    read_words,
    recur_over,
    renew,
    report,
    score,
    tag,
    take_rows,
    weigh,
)
from benchmarks.needless_variants import (
    ATTENTIONS,
    ENLARGED,
    FACTORED,
    LOSSES,
    METRICS,
    MODELS,
    ORDERS,
    PADDED,
    PIECES,
    READERS,
    REPORTED,
    ROUNDS,
    SEQUENCES,
    TABLES,
    TAKES,
    UNTAKEN,
)
from tb_slowdown_plugin.collectors.graph_work.needless.both_branches import find_both_branches
from tb_slowdown_plugin.collectors.graph_work.needless.loops.full_jacobians import (
    find_full_jacobians,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.independent_rounds import (
    find_independent_rounds,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.loop_invariants import (
    find_loop_invariants,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.pieces import find_pieces
from tb_slowdown_plugin.collectors.graph_work.needless.loops.unrolled_rounds import (
    find_unrolled_rounds,
)
from tb_slowdown_plugin.collectors.graph_work.needless.metric_work import (
    MadeMetric,
    find_metric_work,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.factorizations import (
    find_factorizations,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.parallel_weights import (
    find_parallel_weights,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.product_order import (
    find_product_order,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.repeated_products import (
    find_repeated_products,
)
from tb_slowdown_plugin.collectors.graph_work.needless.reports import find_reports
from tb_slowdown_plugin.collectors.graph_work.needless.rows.repeated_rows import find_repeated_rows
from tb_slowdown_plugin.collectors.graph_work.needless.rows.untaken_rows import find_untaken_rows
from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import find_whole_tables
from tb_slowdown_plugin.collectors.graph_work.needless.second_pass import find_second_pass
from tb_slowdown_plugin.collectors.graph_work.needless.sequence_work import find_sequence_work
from tb_slowdown_plugin.collectors.graph_work.needless.zero_work import find_zero_work
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

STEPS: Final = 12
"""In a turn."""


def main() -> None:
    """Prints a row for each pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--only", default="", help="what the name of a pair has to contain")
    asked = parser.parse_args()
    compare = partial(compare_pair, asked.turns, asked.only)
    print("| training | with it, ms | without, ms | saved, % | counted, % |")
    print("|---|---|---|---|---|")
    for name, (build, data) in MODELS.items():
        for optimizer in (keras.optimizers.SGD, keras.optimizers.Adam):
            told = f"{name}, {optimizer.__name__}: a pass for a metric"
            compare(told, data, find_second_pass, partial(classify, build, optimizer))
        if data[0].dtype == tf.float32:
            for told, make in (("gradients through a sign", harden), ("a loss of weight 0", weigh)):
                compare(f"{name}: {told}", data, find_zero_work, partial(make, build))
    for in_graph, find in ((False, find_repeated_products), (True, find_loop_invariants)):
        for units, length, rounds, recurrent in ATTENTIONS:
            memory = tf.random.normal((64, length, units))
            data = memory, tf.zeros((64, rounds), tf.int32)
            name = (
                f"attention of {units}, {'GRU' if recurrent else 'dense'}: its keys in each round"
                f"{' of a loop in the graph' if in_graph else ''}"
            )
            make = partial(attend, units, rounds, recurrent, in_graph)
            compare(name, data, find, make)
    for rows, units in TABLES:
        ids = tf.random.uniform((256,), 0, rows, tf.int32)
        name = f"table of {rows:,}, layer of {units:,}: all rows normalized"
        compare(name, (ids,), _find_tables, partial(look_up, rows, units))
    for units, examples in product((32, 1024), (16, 64, 256)):
        data = (tf.random.normal((examples, 64)), tf.random.normal((examples, 64)))
        for (told, loss_of_one), (how, one_by_one) in product(LOSSES.items(), ROUNDS.items()):
            name = f"layer of {units:,}: {told} of each of {examples} examples by {how}"
            find = find_independent_rounds if how == "map_fn" else find_unrolled_rounds
            compare(name, data, find, partial(map_losses, units, loss_of_one, one_by_one))
    for (steps, units), (how, recur) in product(SEQUENCES, PIECES.items()):
        data = (tf.random.normal((32, steps, 8)),)
        name = f"sequence of {steps}, GRU of {units}: {how}"
        compare(name, data, find_pieces, partial(recur_over, steps, units, recur))
    for (steps, units), (how, make_outputs) in product(UNTAKEN, TAKES.items()):
        data = (tf.random.normal((32, steps, units)),)
        name = f"layer of {units} on 32 x {steps} rows: {how}"
        compare(name, data, find_untaken_rows, partial(take_rows, units, make_outputs))
    for channels, times in ENLARGED:
        data = (tf.random.normal((8, 16, 16, channels)),)
        name = (
            f"a pixel's {channels} channels to 8: behind pixels that are repeated {times}^2 times"
        )
        compare(name, data, find_repeated_rows, partial(enlarge, channels, times))
    for rows, (how, make_terms) in product((200, 400), FACTORED.items()):
        data = (tf.random.normal((rows, 8)), tf.random.normal((rows, 1)))
        name = f"covariance of {rows} x {rows}: {how}"
        compare(name, data, find_factorizations, partial(fit_process, rows, make_terms))
    for how, (make_outputs, sizes) in ORDERS.items():
        for rows, units in sizes:
            data = (tf.random.normal((rows, units)),)
            name = f"layer of {units} on {rows:,} rows: {how}"
            compare(name, data, find_product_order, partial(multiply, rows, units, make_outputs))
    for (columns, used), (how, layers) in product(PADDED, READERS.items()):
        words = tf.random.uniform((32, columns), 1, 5000, tf.int32)
        name = f"{how} on texts of up to {used} words: padded to {columns}"
        find = partial(_find_padding, used / columns)
        data = (words, tf.zeros((32,), tf.int32))
        compare(name, data, find, partial(read_words, columns, used, layers))
    for (how, make_metric), units in product(METRICS.items(), (64, 512)):
        data = (tf.random.normal((512, units)), tf.round(tf.random.uniform((512, 1))))
        metric = make_metric()
        made = MadeMetric(id(metric), how)
        metrics = {id(each._value.handle): made for each in metric.variables}
        find = partial(find_metric_work, metrics=metrics)
        compare(f"metric, {units} units: {how}", data, find, partial(score, units, metric))
    for rows, every in product((100, 300), (5, 25)):
        data = (tf.random.normal((256, rows)),)
        name = f"inverse of {rows} x {rows}: one step in {every} takes it"
        compare(name, data, find_both_branches, partial(renew, rows, every))
    for points, units in product((40, 160), (32, 128)):
        data = (tf.random.normal((points,)),)
        name = f"derivatives at {points} points, layers of {units}: by all inputs"
        compare(name, data, find_full_jacobians, partial(derive, units))
    for count, units in product((20, 80), (32, 256)):
        data = (tf.random.normal((64, 40)), tf.zeros((64, count)))
        name = f"{count} tags, layers of {units}: weights one by one"
        compare(name, data, find_parallel_weights, partial(tag, count, units))
        data = (tf.zeros((64, count), tf.int32), tf.zeros((64, 1)))
        name = f"{count} columns, layers of {units}: tables one by one"
        compare(name, data, find_parallel_weights, partial(embed, count, units))
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        for units in REPORTED:
            data = (tf.random.normal((64, units)),)
            name = f"layers of {units:,}: histograms of weights and gradients"
            compare(name, data, find_reports, partial(report, writer, units))


def compare_pair(
    turns: int,
    only: str,
    name: str,
    data: tuple[Any, ...],
    find: Callable[[StepGraph], Any],
    make: Callable[[bool], tuple[Callable[..., Any], list[Asked]]],
) -> None:
    """Times a training with and without the work, and counts it in the graph."""
    if only not in name:
        return
    (plain, _), (wasteful, asked) = make(False), make(True)
    took: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(-1, turns):  # the first one warms up
        for extra, step in ((False, plain), (True, wasteful)):
            began = time.perf_counter()
            for _ in range(STEPS):
                step(*data)
            if turn >= 0:
                took[extra].append((time.perf_counter() - began) / STEPS * 1e3)
    without, with_it = (float(np.median(each)) for each in took.values())
    loss, gradients = asked[-1]
    found = find(StepGraph([loss], [getattr(each, "values", each) for each in gradients]))
    counted = found.share if found is not None else 0.0
    saved = 100 * (1 - without / with_it)
    print(f"| {name} | {with_it:.2f} | {without:.2f} | {saved:.0f} | {100 * counted:.0f} |")


def _find_tables(step: StepGraph) -> Any:
    return find_whole_tables(step, step.gradients)


class _Padding(NamedTuple):
    share: float


def _find_padding(used: float, step: StepGraph) -> _Padding | None:
    """What the analysis makes of it, with so many of the columns used."""
    found = find_sequence_work(step)
    if found is None:
        return None
    return _Padding(found.share * (1 - used) + found.squared * (1 - used**2))


if __name__ == "__main__":
    main()

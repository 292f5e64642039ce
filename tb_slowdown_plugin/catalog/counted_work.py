"""What graphs tell of a step, and no clock: which accounts get its seconds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog import events, names

FAMILIES: Final = {
    events.WIDE_GRADIENT: names.UNUSED_GRADIENTS,
    events.WHOLE_TABLE: names.WHOLE_TABLES,
    events.DRAWN_ROWS: names.WHOLE_TABLES,
    events.REPEATED_PASS: names.REPEATED_PASS,
    events.REPEATED_PRODUCT: names.REPEATED_PASS,
    events.REPEATED_ROWS: names.REPEATED_PASS,
    events.LOOP_INVARIANT: names.REPEATED_PASS,
    events.UNCHANGING_WORK: names.REPEATED_PASS,
    events.PAIRWISE_DISTANCES: names.DISTANCES,
    events.SPARSE_PRODUCT: names.SPARSE_PRODUCTS,
    events.ZERO_MATRIX: names.SPARSE_PRODUCTS,
    events.INDEPENDENT_ROUNDS: names.LOOPS,
    events.UNROLLED_ROUNDS: names.LOOPS,
    events.UNTAKEN_ROWS: names.UNTAKEN_ROWS,
    events.PIECES: names.PIECES,
    events.PRODUCT_ORDER: names.PRODUCT_ORDER,
    events.FACTORIZATIONS: names.FACTORIZATIONS,
    events.ZERO_WORK: names.ZERO_WORK,
    events.BOTH_BRANCHES: names.BOTH_BRANCHES,
    events.FULL_JACOBIAN: names.FULL_JACOBIANS,
    events.PARALLEL_WEIGHTS: names.PARALLEL_WEIGHTS,
    events.SEQUENCE_WORK: names.PADDING,
    events.GRAPH_REPORT: names.GRAPH_REPORTS,
    events.METRIC_WORK: names.GRAPH_REPORTS,
}
"""Fact about a line -> the family of its account, which gets a share of each step that runs it. Of
a session of TensorFlow 1 the record has these seconds already."""

BOOKED: Final = "booked"
"""1 in such a fact of which the record has the seconds."""

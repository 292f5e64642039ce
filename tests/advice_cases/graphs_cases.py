"""Graphs, tensors, and shapes: for each advice what it is offered for, and what not."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.analysis.causes.compile import (
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_fixes import Retention
from tb_slowdown_plugin.analysis.causes.model import (
    backward_pass,
    optimizer_state,
)

CASES: dict[str, tuple[Any, Any]] = {
    "graph_growth.build_once": (False, True),
    "graph_growth.fetch_one_set": (True, False),
    "graph_growth.finalize": (False, True),
    "graph_growth.use_function": (False, True),
    "tensor_retention_fixes.short_tape": (Retention(tape=True), Retention()),
    "tensor_retention_fixes.keep_a_window": (Retention(listed=False), Retention(listed=True)),
    "tensor_retention_fixes.numbers": (Retention(listed=True), Retention(listed=False)),
    "shape_churn.pad": (
        shape_churn.Shapes(("(32, 24)", "(32, 31)")),
        shape_churn.Shapes(("(32, 24)", "(31, 24)")),
    ),
    "shape_churn.one_size": (
        shape_churn.Shapes(("(8, 24, 24, 3)", "(8, 31, 24, 3)")),
        shape_churn.Shapes(("(32, 24)", "(32, 31)")),
    ),
    "shape_churn.full_batches": (
        shape_churn.Shapes(("(32, 24)", "(31, 24)")),
        shape_churn.Shapes(("(32, 24)", "(31, 24)"), full_batches=True),
    ),
    "xla_compilation.gather": (
        xla_compilation.Compilations(values=True),
        xla_compilation.Compilations(values=True, slices=False),
    ),
    "xla_compilation.few_sizes": (
        xla_compilation.Compilations(values=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.pad": (
        xla_compilation.Compilations(),
        xla_compilation.Compilations(shapes=False, values=True),
    ),
    "xla_compilation.pad_by_hand": (
        xla_compilation.Compilations(makes_batches=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.full_batches_by_hand": (
        xla_compilation.Compilations(makes_batches=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.full_batches": (
        xla_compilation.Compilations(),
        xla_compilation.Compilations(full_batches=True),
    ),
    "xla_compilation.whole_batches": (
        xla_compilation.Compilations(arrays=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.leave_keras_out": (
        xla_compilation.Compilations(keras=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.leave_out": (
        xla_compilation.Compilations(),
        xla_compilation.Compilations(keras=True),
    ),
    "optimizer_state.make_once": (
        optimizer_state.Updates(made=True, grown=False),
        optimizer_state.Updates(made=False, grown=True),
    ),
    "optimizer_state.accumulate": (
        optimizer_state.Updates(made=False, grown=True),
        optimizer_state.Updates(made=True, grown=False),
    ),
    "backward_pass.short_tape": (
        backward_pass.Backward(),
        backward_pass.Backward(grows=False),
    ),
    "backward_pass.stop_gradient": (
        backward_pass.Backward(),
        backward_pass.Backward(grows=False),
    ),
    "backward_pass.mixed_precision": (
        backward_pass.Backward(),
        backward_pass.Backward(half_precision=True),
    ),
}

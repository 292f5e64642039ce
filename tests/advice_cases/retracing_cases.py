"""Retracing and the start: for each advice what it is offered for, and what not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advice_cases.evidence import (
    DECLARED,
    FROM_ARRAYS,
    GENERALIZED,
    GENERATOR,
    KERAS,
    LENGTH,
    METHOD,
    NUMBER,
    OBJECT,
    ON_DEVICES,
    ROWS,
    SLOW,
    SPEC,
    program,
    retrace,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import RepeatedSetup

CASES: dict[str, tuple[Any, Any]] = {
    "retrace_fixes.compile_once": (
        retrace(function=KERAS, cause="new_object"),
        retrace(OBJECT, function=KERAS, cause="new_object"),
    ),
    "retrace_fixes.reset_the_model": (
        retrace(OBJECT, function=KERAS, cause="new_object"),
        retrace(function=KERAS, cause="new_object"),
    ),
    "retrace_fixes.process_for_each_trial": (
        retrace(OBJECT, function=KERAS, cause="new_object"),
        retrace(
            ("python_object", "compiled", "the same model, compiled again"),
            function=KERAS,
            cause="new_object",
        ),
    ),
    "retrace_fixes.keep_instance": (
        retrace(function="Trainer.step", cause="new_object"),
        retrace(cause="new_object"),
    ),
    "retrace_fixes.hoist": (retrace(cause="new_object"), retrace(ROWS)),
    "retrace_fixes.call_alike": (retrace(cause="context"), retrace(ROWS)),
    "retrace_fixes.declare": (
        retrace(ROWS, signature=SPEC),
        retrace(ROWS, signature=SPEC, of=DECLARED),
    ),
    "retrace_fixes.pass_tensor": (retrace(NUMBER), retrace(ROWS)),
    "retrace_fixes.cast": (retrace(("dtype", "float32", "float64")), retrace(ROWS)),
    "retrace_fixes.always_tensor": (
        retrace(("none", "None", "tensor float32 (2,)")),
        retrace(NUMBER),
    ),
    "retrace_fixes.stack": (retrace(("structure", "list of 2", "list of 3")), retrace(ROWS)),
    "retrace_fixes.pass_the_value": (retrace(GENERATOR), retrace(OBJECT)),
    "retrace_fixes.keep_method": (retrace(METHOD), retrace(OBJECT)),
    "retrace_fixes.keep_object": (retrace(OBJECT), retrace(GENERATOR)),
    "retrace_fixes.pad": (retrace(LENGTH), retrace(ROWS)),
    "retrace_fixes.pad_by_hand": (
        retrace(LENGTH, of=Program(makes_batches=True)),
        retrace(LENGTH),
    ),
    "retrace_fixes.full_batches_by_hand": (
        retrace(ROWS, of=Program(makes_batches=True)),
        retrace(ROWS),
    ),
    "retrace_fixes.full_batches": (
        retrace(ROWS),
        retrace(ROWS, of=program("Range Batch", full_batches=1)),
    ),
    "retrace_fixes.reduce": (retrace(ROWS), retrace(ROWS, of=GENERALIZED)),
    "recreated_objects.hand_over_a_dataset": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(),
    ),
    "recreated_objects.call_the_model": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.train_on_batch": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(),
    ),
    "recreated_objects.repeat_in_fit": (
        RepeatedSetup(frozenset({ON_DEVICES}), in_fit=True),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.iterate_once": (
        RepeatedSetup(frozenset({ON_DEVICES})),
        RepeatedSetup(frozenset({ON_DEVICES}), in_fit=True),
    ),
    "recreated_objects.distribute_once": (
        RepeatedSetup(frozenset({ON_DEVICES}), distributed_again=True),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.make_once": (
        RepeatedSetup(),
        RepeatedSetup(frozenset({FROM_ARRAYS})),
    ),
    "warm_up_fixes.smaller_shuffle_buffer": (
        replace(SLOW, program=program("Range Shuffle Batch"), waits=True, fills=True),
        replace(SLOW, program=program("Range Batch"), waits=True, fills=True),
    ),
    "warm_up_fixes.interleave": (
        replace(SLOW, waits=True, reads=True),
        replace(SLOW, program=program("TensorSlice Map Batch"), waits=True, reads=True),
    ),
    "warm_up_fixes.cache_on_disk": (
        replace(SLOW, waits=True),
        replace(SLOW, program=program("Range Cache Batch"), waits=True),
    ),
    "warm_up_fixes.parallel_map": (
        replace(SLOW, program=program("Range Map Batch"), waits=True),
        replace(SLOW, program=program("Range ParallelMap Batch"), waits=True),
    ),
    "warm_up_fixes.roll_loops": (
        replace(SLOW, builds=True, many_operations=True),
        replace(SLOW, builds=True),
    ),
    "warm_up_fixes.create_variables_once": (
        replace(SLOW, builds=True, variables=True),
        replace(SLOW, builds=True),
    ),
    "warm_up_fixes.skip_optimisation": (replace(SLOW, first_runs=True), replace(SLOW, builds=True)),
    "warm_up_fixes.leave_keras_out": (replace(SLOW, compiled_by_keras=True), SLOW),
    "warm_up_fixes.leave_it": (SLOW, replace(SLOW, models=3)),
    "warm_up_fixes.train_each_longer": (replace(SLOW, models=3), SLOW),
}

"""Names that cross the logdir and that code asks for: accounts, facts, signals of a device.

A name stays the same all the way: collector, record field, analysis column, rule, panel. What
signals there are is in `catalog/collectors.py`.
"""

from __future__ import annotations

from typing import Final

# -- accounts: exclusive seconds of a step -----------------------------------
# An account is "family" or "family:detail". The detail names a callback, a
# phase of the user's, or (tracing, first_execution) whose doing it was.

INPUT_WAIT: Final = "input_wait"
"""Waiting for the next batch; also `phase("data")`. Detail: END_OF_PASS."""
END_OF_PASS: Final = "end of pass"
"""Of INPUT_WAIT: the end of a pass, when TensorFlow stops the threads of its pipeline."""
OF_VALIDATION: Final = "validation"
"""Of INPUT_WAIT: validation's own data."""
INPUT_WORK: Final = "input_work"
"""No account of a record: what steps take longer while the pipeline computes beside them."""
EAGER: Final = "eager"
"""No account of a record: operations that Python starts one by one. Detail: the line."""
MACHINE_GPUS: Final = "machine_gpus"
"""In `Environment.limits`: GPUs of the machine, whether or not TensorFlow sees them."""
CONVERTED: Final = "converted"
COPIED: Final = "copied"
"""No account of a record: lists that become tensors, element by element. Detail: the line."""
OWN_PYTHON: Final = "python"
"""No account of a record: what a function of the program computes in Python. Detail: the line."""
FED_INPUT: Final = "fed_input"
"""No account of a record: what the training thread makes for itself, in a generator or a loader of
the program. Detail: the line."""
UNUSED_GRADIENTS: Final = "unused_gradients"
"""No account of a record: gradients that no optimizer gets. Detail: the line or the function."""
WHOLE_TABLES: Final = "whole_tables"
"""No account of a record: work on all rows of a table of which a few are needed. Detail: the line
or the function."""
REPEATED_PASS: Final = "repeated_pass"
"""A pass through the model that the step has made before: another run of a session, or a part of
the step's graph, of which no record has an account. Detail: the line."""
SPARSE_PRODUCTS: Final = "sparse_products"
"""Products with matrices that are nearly all zeros. Detail: the line. A record has this one and
those below for runs of a session only."""
DISTANCES: Final = "distances"
"""Distances of all pairs of rows by their differences. Detail: the line."""
LOOPS: Final = "loops"
"""Operations that a loop of the graph starts for each example of a batch. Detail: the line."""
UNTAKEN_ROWS: Final = "untaken_rows"
"""Products of which a step takes a few rows. Detail: the line."""
PIECES: Final = "pieces"
"""A tensor that a loop takes apart, or puts together, and moves as a whole each time. Detail: the
line."""
PRODUCT_ORDER: Final = "product_order"
"""Three matrices that a step multiplies in the longer order. Detail: the line."""
FACTORIZATIONS: Final = "factorizations"
"""A matrix that a step factorizes several times. Detail: the line of the last one."""
ZERO_WORK: Final = "zero_work"
"""What a step computes that is zero whatever is fed. Detail: the line from which on it is."""
BOTH_BRANCHES: Final = "both_branches"
"""What a step computes that a condition takes in one of many steps. Detail: the line."""
FULL_JACOBIANS: Final = "full_jacobians"
"""Derivatives of all outputs by all inputs, of which the diagonal is used. Detail: the line."""
PARALLEL_WEIGHTS: Final = "parallel_weights"
"""What is started for each of many small weights on one tensor, but for one. Detail: the line."""
PADDING: Final = "padding"
"""What a step computes for columns that are padding in all examples. Detail: the line."""
GRAPH_REPORTS: Final = "graph_reports"
"""Summaries, prints, and metrics of a step's graph. Detail: the line."""
GRAPH_PYTHON: Final = "graph_python"
"""No account of a record: functions of Python that a step's graph calls. Detail: the function."""
OPEN_TAPE: Final = "open_tape"
"""No account of a record: what steps take longer the longer a gradient tape is open. Detail: the
line that opened it."""
TRACING: Final = "tracing"
"""Cache lookup and graph building. Details: FIRST, AGAIN, LIBRARY."""
FIRST_EXECUTION: Final = "first_execution"
"""First run of a graph just traced, steady cost included. Details as TRACING."""
GC: Final = "gc"
CALLBACK: Final = "callback"
"""Details: the callback's class name."""
CHECKPOINT: Final = "checkpoint"
"""`phase("checkpoint")`; detail: the Keras callback or saver, where known."""
SUMMARY: Final = "summary"
VALIDATION: Final = "validation"
COMMUNICATION: Final = "communication"
"""Waiting for an all-reduce between workers; also `phase("communication")`."""
XLA_COMPILATION: Final = "xla_compilation"
"""XLA compiling a graph again, for shapes or values it had not met; without the steady run."""
SESSION_PREPARE: Final = "session_prepare"
"""What a TensorFlow 1 session takes to prepare operations that were made since its last `run`.
Detail `FETCHES`: of sets of fetches that it has not run before."""
FETCHES: Final = "fetches"
FEEDING: Final = "feeding"
"""CPU time in which a TensorFlow 1 session converts what it is fed. Detail: the line of `run`."""
PREDICT: Final = "predict"
"""Keras's `predict` on arrays, beside computing them. Detail: the line that calls it."""
CALL: Final = "call"
"""Another call of the program's, beside what it computes. Detail: "fit (train.py:41)"."""
CLEAR_SESSION: Final = "clear_session"
"""Keras's function that forgets all models, and making their kernels again afterwards. Detail:
the line that calls it."""
SINGLE_CALLS: Final = "single_calls"
"""No account of a record: calls of the user's that the run made once or twice."""
COMPUTING: Final = "computing"
"""No account of a record: what a call computes is the step's own work."""
FORWARD: Final = "forward"
BACKWARD: Final = "backward"
OPTIMIZER: Final = "optimizer"
PHASE: Final = "phase"
"""Any other phase; detail: the name that the user gave."""

FIRST: Final = "first"
"""First trace of this code, with the second one that variable creation needs."""
AGAIN: Final = "again"
"""Every later trace, and each new function object with the same code."""
LIBRARY: Final = "library"
"""tf.data's and Keras's own functions."""

XLA_NEEDS: Final = "xla_needs"
"""Fact: XLA needs to know a value when it compiles. Subject: the jitted function, ": ", and what
needs it: "train_step (train.py:33): begin, for Slice (train.py:41)"."""

INPUT_PIPELINE: Final = "input_pipeline"
"""Fact: the stages of the training data, from the source to the end ("TensorSlice Map Batch");
"arrays", "generator", "fitted", "python", "autotuned" and "full_batches" where it is so,
"shuffle_buffer", and "mapped_bytes", what the last `map` gives in a pass where that is known; the
places of the first "random" and the first "endless" stage, and the bits of "library" ones; and
`OVER_DEVICES` where a strategy hands it to its devices."""
OVER_DEVICES: Final = "over_devices"
FUNCTION_OPTIONS: Final = "function_options"
"""Fact: a function and its place, with "reduce_retracing" or "input_signature" where it has it."""
GC_FORCED: Final = "gc_forced"
"""Fact: the line that asked for full collections, with its "calls" so far, and "clear_session"
where Keras's function did it there."""
FILE_WRITE: Final = "file_write"
"""No account of a record: writing a file of the program's own. Detail: the line."""
CONNECTION: Final = "connection"
"""No account of a record: waiting for what another process sends. Detail: the line."""
WAIT: Final = "wait"
"""No account of a record: waiting for another thread of the program's own, by a lock or a queue.
Detail: the line."""
POLLING: Final = "polling"
"""No account of a record: cores that another thread of the program takes while it waits. Detail:
the line."""
OWN_THREAD: Final = "own_thread"
"""No account of a record: cores that another thread of the program takes to compute for itself.
Detail: the line."""
CALLED: Final = "called"
"""Fact: a call of the user's with an account of its own. Subject: the account that got its seconds,
the call, and the line, as `Called` reads them. Numbers: "calls" so far, their "seconds" and
"batches", and seconds by part: "in:tracing"; "in:computing"."""
CHECKPOINT_FROM: Final = "checkpoint_from"
"""Fact: a line that saves, at its 1st, 2nd, 4th ... save, with the "seconds" of all so far;
"in_callback" where a method of a Keras callback does. Records of before have each line once."""
SAVED_BY: Final = "by:"
"""And who saves, "model.save": a number of such a fact, how often so far."""

AUTOMATIC_CAPTURE: Final = "automatic_capture"
"""Fact: the monitor took a profiler capture. Subject: its session. Numbers: `slower`, 1 where
the run had become slower and 0 where it was steady; `seconds` and `bytes` of saving it."""

STEP_RULE: Final = "step_rule"
"""Fact: what a step is, where the program didn't say: "one call of train_step (train.py:41)". Again
with more "steps" of that rule, where there are several rules."""
STEP_NOT_CHOSEN: Final = "step_not_chosen"
"""Fact: a function of the program that was called and makes no step, with its "calls", and the
"seconds" that they took since the first step (not in records of before); "gradients" where it
computes some."""

STANDARD_PHASES: Final[dict[str, str]] = {
    "data": INPUT_WAIT,
    "forward": FORWARD,
    "backward": BACKWARD,
    "optimizer": OPTIMIZER,
    "checkpoint": CHECKPOINT,
    "validation": VALIDATION,
    "summary": SUMMARY,
    "communication": COMMUNICATION,
}


def account(family: str, detail: str = "") -> str:
    """The account of a family and a detail: `account("tracing", "again")` -> `tracing:again`."""
    return f"{family}:{detail}" if detail else family


def family(name: str) -> str:
    """The family of an account: `family("tracing:again")` -> `tracing`."""
    return name.partition(":")[0]


def detail(name: str) -> str:
    """The detail of an account, "" without one."""
    return name.partition(":")[2]


SCRIPT: Final = "<module> ("
"""How a place begins that is in no function."""


def place(subject: str) -> str:
    """A place as it stands in a sentence: `place("<module> (train.py:8)")` -> `train.py:8`."""
    return subject.removeprefix(SCRIPT).removesuffix(")" * subject.startswith(SCRIPT))


# -- signals, by family: the device follows ---------------------------------

ALLOCATOR_IN_USE: Final = "allocator_in_use_bytes"
"""Per device: `allocator_in_use_bytes:GPU:0`."""
ALLOCATOR_PEAK: Final = "allocator_peak_bytes"
ALLOCATOR_RESERVED: Final = "allocator_reserved_bytes"
"""This and the two below: logged by hand, TensorFlow does not tell them."""
ALLOCATOR_LIMIT: Final = "allocator_limit_bytes"
ALLOCATOR_LARGEST_FREE: Final = "allocator_largest_free_bytes"
GPU_MEMORY_USED: Final = "gpu_memory_used_bytes"
"""This and those below: of the whole device, by NVML or `amdsmi`; `gpu_memory_used_bytes:GPU:0`."""
GPU_MEMORY_TOTAL: Final = "gpu_memory_total_bytes"
GPU_UTILIZATION: Final = "gpu_utilization_percent"
GPU_CLOCK: Final = "gpu_clock_hertz"
GPU_POWER: Final = "gpu_power_milliwatts"
GPU_TEMPERATURE: Final = "gpu_temperature_celsius"
GPU_THERMAL_SLOWDOWN: Final = "gpu_thermal_slowdown"
"""1 while the device lowers its clocks because it is hot, else 0."""
GPU_POWER_SLOWDOWN: Final = "gpu_power_slowdown"
"""1 while it draws as much power as it may: the usual state of a busy device, so never a cause."""
GPU_HARDWARE_SLOWDOWN: Final = "gpu_hardware_slowdown"
"""1 while its hardware halves the clock or more: power brake, external signal, overheating."""
SCALAR: Final = "scalar"
"""A scalar that the program wrote itself; detail: its tag."""
RESULT_WRITTEN: Final = "result_written"
"""Fact of a run from scalars: a result of an evaluation or epoch was written in this step."""
GPU_OTHER_SLOWDOWN: Final = "gpu_other_slowdown_bits"
"""Bits of NVML's reasons that this version has no name for, as a number."""

"""Names of the events that a record holds as a `Fact`."""

from __future__ import annotations

import re
from typing import Final

NEW_SHAPE: Final = "batch_shape"
"""Fact: a batch had a shape that none had before; only the first ones are told."""

SHAPE: Final = re.compile(r"\(([\d, ]*)\)")

STAGE: Final = "input_stage"
"""Fact: the slowest stage of the pipeline, when it is known and when it changes."""

INPUT_FILTERED: Final = "input_filtered"
"""Fact: a `filter` of the pipeline: what share of the elements is "kept", and the "share" of the
time of all stages in those before it."""

UNFILLED: Final = "cache_unfilled"
"""Fact: a cache still read its source in a pass in which it should have held."""

PY_DATASET: Final = "py_dataset"
"""Fact: Keras is given a `PyDataset`: the program's function that makes a batch, and how many
workers do."""

KERAS_FIT: Final = "keras_fit"
"""Fact: how Keras's `fit` runs: "steps_per_execution"."""

TENSORBOARD_CALLBACK: Final = "tensorboard_callback"
"""Fact: what a `TensorBoard` callback does: 1 or 0 for "histograms", "batches", and "profiles"."""

HALF_PRECISION: Final = "half_precision"
"""Fact: Keras computes in half precision."""

SLOW_SETTING: Final = "slow_setting"
"""Fact: a setting that makes each step slower, by its id in `catalog/slow_settings.py`, is "on", or
no longer. "before" if it was when that was first looked at."""

STEP_FUNCTION: Final = "step_function"
"""Fact: a function that steps run; "bit" is its place in `StepTable.ran`."""

INPUT_AT: Final = "input_at"
"""Fact: a line that begins a pass over the training data, such as a `for` or a `fit`."""

STAGE_AT: Final = "stage_at"
"""Fact: a line that makes stages of the pipeline of the training data. Numbers: the kind of each,
such as "Map", with its place, from 0 at the source, "made_anew" where steps had run before, and
"varying" where elements have sizes of their own from there on."""

MADE_ANEW: Final = "made_anew"
VARYING: Final = "varying"
"""Numbers of `STAGE_AT`."""

UNUSED_PASS: Final = "unused_pass"
"""Fact: a line that goes through a dataset, batch after batch, without a step or anything else
between them: the "passes" so far, their "batches", and the "seconds" that they took."""

INPUT_LINE: Final = "input_line"
"""Fact: a line of the program in which a thread that makes input for a pipeline was seen: its
"samples", and those "of" all such lines."""

INPUT_FUNCTION: Final = "input_function"
"""Fact: a function of the program that the training data pass through, such as that of a `map`;
"generator" where Python makes the elements with it, "python" where it calls Python for each, and
"buffered" where what it gives fills a shuffle buffer."""

CALLBACK_AT: Final = "callback_at"
"""Fact: a method of a callback that the program has written: its account and its place, such as
"callback:Plotter Plotter.on_epoch_end (train.py:41)"."""

CALLBACK_MADE_AT: Final = "callback_made_at"
"""Fact: the line that makes a callback of Keras's own: "checkpoint:ModelCheckpoint train.py:41"."""

CALLED_AT: Final = "called_at"
"""Fact: a line whose call traced a function again: "train_step (train.py:9) at train.py:41"."""

OPTIMIZER_CREATED: Final = "optimizer_created"
"""Fact: an optimizer is made again, or builds its variables: its class, with the seconds."""

OPTIMIZER_AT: Final = "optimizer_at"
"""Fact: a line that makes an optimizer again."""

WIDE_GRADIENT: Final = "wide_gradient"
"""Fact: a line computes gradients that move no variable. Numbers: the "variables" with a gradient,
"updated" of them, the "elements" and "updated_elements" that these have, "zeroed" if the optimizer
gets some of the others times zero, "watched" how many calls there are if only a few numbers are
made of them, such as their norm, "summed" how many if they are only added up, "repeated" how many
if one would do, and the "share" of what its graph computes that is for the others alone, or for
loops that are gone through again, where that can be counted. It is so "since"
that many steps were finished. Told again where that changes; the share is 0 where all are used."""

WHOLE_TABLE: Final = "whole_table"
"""Fact: a line computes on all "rows" of a table of which "looked_up" are needed, and as many more
for each example as "looked_up_per_item" says. What its graph computes on such tables is "work", in
products and sums, and all else "rest" and "rest_per_item"; "share" is the first of all, with 32
examples where the graph doesn't know how many there are. "regularized" if it is none that the
lookup needs, "made_dense" if it is the gradient alone. It is so "since" that many steps were
finished."""

DRAWN_ROWS: Final = "drawn_rows"
"""Fact: a line puts all "rows" in an order, of which so many are "taken"; "largest" 1 where these
are numbers in order of their size. "share" is that of what the step's graph computes. It is so
"since" that many steps were finished."""

UNTAKEN_ROWS: Final = "untaken_rows"
"""Fact: a line multiplies so many rows as are "made", of which so many are "taken", and nothing
else; "numbers" 1 where these are numbers of a product, "diagonal" 1 where they are its diagonal.
"share" is what the others and their gradients take of what the step's graph computes. It is so
"since" that many steps were finished."""

REPEATED_ROWS: Final = "repeated_rows"
"""Fact: a line multiplies so many "rows", each of which was repeated so many "times" before.
"share" is what all but one of these, and their gradients, take of what the step's graph computes.
It is so "since" that many steps were finished."""

REPEATED_PASS: Final = "repeated_pass"
"""Fact: a line runs the model once more on the batch of the step, for what is only reported. The
pass before it is in line "after" of the same file, 0 if it is elsewhere. "share" is that of what
the step's graph computes; instead "called" where it is a call of its own, beside the function that
trains. It is so "since" that many steps were finished."""

REPEATED_PRODUCT: Final = "repeated_product"
"""Fact: a line multiplies the same numbers by the same weights so many "times" in a step, and gets
gradients each time. "share" is what one product would spare of what the step's graph computes. It
is so "since" that many steps were finished."""

LOOP_INVARIANT: Final = "loop_invariant"
"""Fact: a line in a loop of a graph computes so many "times" what doesn't change there. "share" is
what to compute it once would spare of what the step's graph computes. It is so "since" that many
steps were finished."""

PAIRWISE_DISTANCES: Final = "pairwise_distances"
"""Fact: a line takes the differences of all pairs of rows, so many "numbers", for sums of their
squares; or their "products", 1, for their sums. "share" is that of what the step's graph computes.
It is so "since" that many steps were finished."""

SPARSE_PRODUCT: Final = "sparse_product"
"""Fact: a line multiplies by a matrix of so many "columns", of which all but one in a row are zero:
"diagonal", 1, or one-hot encodings, 0. "share" is that of what the step's graph computes. It is so
"since" that many steps were finished."""

ZERO_MATRIX: Final = "zero_matrix"
"""Fact: a line of a function that trains multiplies by a matrix of so many "rows" and "columns", of
which the share "filled" isn't zero. "share" is what a sparse one would spare of what the function's
graph computes. It is so "since" that many steps were finished."""

GRAPH_PYTHON: Final = "graph_python"
"""Fact: a function of the program that graphs call through `tf.numpy_function` or `tf.py_function`,
other than those of tf.data: its "calls" so far, and their "seconds"."""

DENSE_UPDATE: Final = "dense_update"
"""Fact: in this line a step looks up rows of a table, of which its optimizer moves all "rows". The
other numbers are those of `whole_table`. It is so "since" that many steps were finished."""

DOUBLE_PRECISION: Final = "double_precision"
"""Fact: the graph of a step computes in float64, or complex128, at first in this line: "share" of
what it computes. It is so "since" that many steps were finished."""

FLOAT16_WORK: Final = "float16_work"
"""Fact: the same in float16."""

INDEPENDENT_ROUNDS: Final = "independent_rounds"
"""Fact: a line computes for each example of a batch in a loop of a graph, so many "times", and no
round needs another. "share" is what starting operations once would spare of what the step's graph
computes. It is so "since" that many steps were finished."""

UNROLLED_ROUNDS: Final = "unrolled_rounds"
"""Fact: the same of a loop of Python in a traced function, which the graph has round after round.
"wrapped" is 1 where it is that of Keras's `TimeDistributed`."""

PIECES: Final = "pieces"
"""Fact: a line takes a tensor apart, or puts it together, so many "times" in a step, and each time
the whole of it is moved: "grown" 1 where it is put together, "rolled" 1 where it is a loop of the
graph, "wrapped" 1 where Keras's `TimeDistributed` does it. "share" is what all but one of these
take of what the step's graph computes. It is so "since" that many steps were finished."""

PRODUCT_ORDER: Final = "product_order"
"""Fact: a line multiplies three matrices in the order that takes so many "products" of numbers,
where the other one takes as many as are "needed". "share" is what that spares, in the gradients,
too, of what the step's graph computes. It is so "since" that many steps were finished."""

FACTORIZATIONS: Final = "factorizations"
"""Fact: a line factorizes a matrix of so many rows, its "side", that the step has factorized
before: so many "times" in all, "inverse" and "eigenvalues" 1 where these are among them. "share" is
what one factor spares, in the gradients, too, of what the step's graph computes. It is so "since"
that many steps were finished."""

ZERO_WORK: Final = "zero_work"
"""Fact: a line of a step from which on what is computed is zero whatever is fed, as it is
multiplied by a factor of 0, or as gradients go back through `tf.sign` ("sign" 1), whose gradient is
0: "share" of what the step's graph computes. It is so "since" that many steps were finished."""

SEQUENCE_WORK: Final = "sequence_work"
"""Fact: what a step computes for sequences of so many "columns", in a line that costs most of it:
the "share" of what its graph computes that is in proportion to them, and what is in proportion to
their square, "squared". It is so "since" that many steps were finished."""

PADDED_BATCH: Final = "padded_batch"
"""Fact: of batches of so many "columns" that many are "used" on average, up to the end of the
longest example, and "longest" at most, in as many "batches" as were looked at."""

UNCHANGING_WORK: Final = "unchanging_work"
"""Fact: a line of a function that trains computes the same in each call, of arguments that are the
same tensors in all of them: "share" of what the function's graph computes. It is so "since" that
many steps were finished."""

GROWING_VARIABLE: Final = "growing_variable"
"""Fact: a line adds rows to a variable of open shape, in the graph of a step. It is so "since" that
many steps were finished."""

GRAPH_REPORT: Final = "graph_report"
"""Fact: the graph of a step makes so many "summaries", and "prints", most at this line: "share" of
what it computes. It is so "since" that many steps were finished."""

BOTH_BRANCHES: Final = "both_branches"
"""Fact: a line computes in each step what a condition takes in one of so many, "every": "share" of
what the step's graph computes is for the others. It is so "since" that many steps were finished."""

FULL_JACOBIAN: Final = "full_jacobian"
"""Fact: a line takes the diagonal of a Jacobian of all outputs by all inputs, of which nothing else
is used: of so many in all, "times", with "side" rows: "share" of what the step's graph computes is
for the rest. It is so "since" that many steps were finished."""

PARALLEL_WEIGHTS: Final = "parallel_weights"
"""Fact: a line multiplies one tensor by so many weights, "times", one after the other, or looks up
rows in as many tables ("lookups" 1): "share" of what the step's graph computes is starting
operations for all but one of them. It is so "since" that many steps were finished."""

METRIC_WORK: Final = "metric_work"
"""Fact: the graph of a step computes for so many "metrics" what nothing else needs, most at this
line, which makes the metric that takes most where it has no line of its own; "compiled" is 1 where
Keras updates it, and "kept" where its result is made of ever more that it keeps: "share" of what
the graph computes. It is so "since" that many steps were finished."""

REPEATED_RUN: Final = "repeated_run"
"""Fact: a line runs a TensorFlow 1 session on what it was fed just before, in line "after", 0 if in
another file. Most of what that computes was computed then: "share" of it."""

OPERATIONS_ADDED_AT: Final = "operations_added_at"
"""Fact: a line that adds to a default graph that goes on growing: of that many of the newest
"operations", "of" those that were looked at."""

FETCHED_AT: Final = "fetched_at"
"""Fact: a line that asks a session for new "sets" of fetches again and again, so many by then."""

SESSION_WAITS: Final = "session_waits"
"""Fact: a graph that a TensorFlow 1 session runs has so many kinds of operations of which each
"waits", or may. Subject: some of them, "IteratorGetNext, QueueDequeueV2"."""

OPEN_LOOP: Final = "open_loop"
"""Fact: a traced function has a loop that ends by what it computes, such as an episode."""

OPEN_TAPE = "open_tape"
"""Fact: a gradient tape is open since an earlier step."""

TENSOR_CENSUS: Final = "tensor_census"
"""Fact: live tensors of one dtype and shape, and what holds them: "float32 (32, 10) in list
`history` of train.py". Numbers: their "count" and "bytes", and all "live_tensors" with theirs; of
what a variable holds, by how many bytes it has "grown" since it was seen first."""

TENSORS_ADDED_AT: Final = "tensors_added_at"
"""Fact: a line that adds to what holds them, "|", and the subject of their census."""

SLOW_STEP: Final = "slow_step"
"""Fact: a step took far longer than usual in no account. Subject: the line that it was in. Numbers:
"ago", steps since it; "writes", 1 where it was seen to write; "written_bytes" of the thread in it
and up to a second before it; and one of the `WAITS` of `stack_samples.py`."""

NOTE: Final = "note"
"""Fact: what the program says of this step, by `tbslow.summary.note`."""

PYTHON_STACK: Final = "python_stack"
"""Fact: a line that the training thread was seen in. Numbers: as in `stack_samples.py`."""

POLLING_AT: Final = "polling_at"
"""Fact: a line in which a thread of the program computes to find out whether it may go on. Numbers:
its CPU "seconds" there so far, and all of the thread's since then, "thread_seconds"."""

COMPUTING_AT: Final = "computing_at"
"""Fact: a line in which a thread of the program computes that hands nothing over. Numbers: its CPU
"seconds" there so far."""

CHILD_AT: Final = "child_at"
"""Fact: a function of the program that processes run which it has started; "" where that isn't
known. Numbers: their CPU "seconds" so far."""

STALL: Final = "stall"
"""Fact: no step for a long time. Subject: where the training thread is. Numbers: "since" (Unix
seconds), "seconds" so far, "cpu_seconds" of the process in them, other "threads", and "in:ACCOUNT"
where time goes to a known account. Again whenever the place changes."""

STALL_THREAD: Final = "stall_thread"
"""Fact: where other threads of the program are in the stall before it, and how many."""

PLANNED_STEPS: Final = "planned_steps"
"""Fact: a `fit` begins its first epoch, with so many "epochs" from this one on, and "steps" in each
where Keras knows them; or a loop whose step "until" is not made any more."""

PLANNED_STEPS_OVER: Final = "planned_steps_over"
"""Fact: that `fit` has ended."""

MONITOR_STOPPED: Final = "monitor_stopped"
"""Fact: nothing comes after it in its session."""

STALL_OVER: Final = "stall_over"
"""Fact: the monitor was stopped while no step came: the run has ended."""

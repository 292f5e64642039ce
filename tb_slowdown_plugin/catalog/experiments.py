"""The experiments of `tbslow try`: names, what each changes, and the causes that it tests.

An experiment is an intervention from outside of the program; `writer/launch/interventions` has
the code of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Changes = Literal["no", "numerics", "yes"]

AS_IT_IS: Final = "as_it_is"
"""The program without an intervention."""

DEBUGGING_OFF: Final = "debugging_off"
"""The experiment that settings call for, too: those of `catalog/slow_settings.py`."""

ALLOCATOR: Final = "allocator"
"""The experiment that the command prepares, too: a library is preloaded."""

PATCH: Final = "patch_"
"""Before the cause, in the name of an experiment with the patches against it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One intervention."""

    name: str
    """Contract: in `--only` and in JSON."""
    does: str
    """What it changes, for a person."""
    causes: tuple[str, ...]
    """Causes that it tests, and that call for it."""
    changes_results: Changes
    """Whether training with it gives other results."""
    adopt: str
    """The code that has the same effect."""
    is_rare: bool = False
    """Whether it saves time in a few steps only, so that the mean of the steps shows it."""
    advised: str = ""
    """New code in the advice that has the same effect; "" where none has."""


_EXPERIMENTS: Final = (
    Experiment(
        "input_free",
        "replays the first batches of each tf.data pipeline from memory: "
        "the upper bound of any input fix",
        ("input_pipeline",),
        "yes",
        "dataset = dataset.cache().prefetch(tf.data.AUTOTUNE)",
    ),
    Experiment(
        "prefetch",
        "adds prefetch(AUTOTUNE) to each tf.data pipeline that doesn't end with one",
        ("input_pipeline",),
        "no",
        "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        advised="ds = ds.prefetch(tf.data.AUTOTUNE)",
    ),
    Experiment(
        "autotune_off",
        "turns off the autotuning of tf.data",
        ("input_pipeline",),
        "no",
        "options = tf.data.Options()\noptions.autotune.enabled = False\n"
        "dataset = dataset.with_options(options)",
    ),
    Experiment(
        "no_callbacks",
        "removes the callbacks of `fit`",
        ("callbacks",),
        "yes",
        "model.fit(dataset, callbacks=[])",
        is_rare=True,
    ),
    Experiment(
        "no_summaries",
        "skips the summaries of tf.summary",
        ("callbacks", "disk"),
        "no",
        'if step % 100 == 0:\n    tf.summary.scalar("loss", loss, step=step)',
        is_rare=True,
    ),
    Experiment(
        "no_checkpoints",
        "skips checkpoint saves",
        ("checkpointing", "disk"),
        "no",
        "if step % 1000 == 0:\n    manager.save()",
        is_rare=True,
    ),
    Experiment(
        "gc_frozen",
        "hides the objects that exist after 5 steps from the garbage collector",
        ("garbage_collection",),
        "no",
        "import gc\n\ngc.collect()\ngc.freeze()  # once, when the model and the data are built",
        is_rare=True,
        advised="gc.freeze()",
    ),
    Experiment(
        "tensor_arguments",
        "passes Python numbers to tf.functions as tensors",
        ("retracing",),
        "numerics",
        "train_step(batch, tf.constant(step))",
        is_rare=True,
        advised="tf.constant(",
    ),
    Experiment(
        "reduce_retracing",
        "sets reduce_retracing=True for each tf.function",
        ("retracing", "shape_churn"),
        "no",
        "@tf.function(reduce_retracing=True)",
        is_rare=True,
        advised="reduce_retracing=True",
    ),
    Experiment(
        DEBUGGING_OFF,
        "switches off what was left on for debugging: checks of numerics, dumps, eager functions, "
        "tracemalloc, and functions that trace or profile Python",
        ("profiling",),
        "no",
        "# no tf.debugging.enable_check_numerics(), run_eagerly=True, tracemalloc.start(), ...",
    ),
    Experiment(
        "steps_per_execution",
        "runs 10 batches of `fit` in one call",
        ("python_overhead",),
        "no",
        "model.compile(optimizer, loss, steps_per_execution=10)",
        advised="steps_per_execution=",
    ),
    Experiment(
        "threads",
        "sets the number of threads in an operation to the cores of the CPU quota, "
        "or to half of the cores; where the program has set fewer than there are cores, to these",
        ("cpu_contention",),
        "numerics",
        "tf.config.threading.set_intra_op_parallelism_threads(4)",
        advised="set_intra_op_parallelism_threads",
    ),
    Experiment(
        ALLOCATOR,
        "uses tcmalloc for host memory where it is installed, and cuda_malloc_async on GPUs",
        ("host_memory", "gpu_memory"),
        "no",
        "LD_PRELOAD=libtcmalloc_minimal.so.4 python train.py\n"
        "# GPU: TF_GPU_ALLOCATOR=cuda_malloc_async python train.py",
    ),
    Experiment(
        "xla",
        "compiles the model and the program's tf.functions with XLA",
        (),
        "numerics",
        "@tf.function(jit_compile=True)  # Keras: model.compile(..., jit_compile=True)",
    ),
    Experiment(
        "mixed_precision",
        "computes Keras layers in 16 bits",
        (),
        "numerics",
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # GPU: "mixed_float16"',
    ),
)

EXPERIMENTS: Final = {experiment.name: experiment for experiment in _EXPERIMENTS}
"""By name, in the order in which they run."""

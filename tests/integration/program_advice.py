"""What the reports of the recorded programs advise, by the first words of each advice."""

from __future__ import annotations

ADVICE: dict[str, tuple[str, ...]] = {
    "backward_pass": (
        "Open one `tf.GradientTape` for",
        "Stop the gradient at",
    ),
    "callbacks_growing": (
        "Look for what `RunningMean`",
        "Let `RunningMean` work once",
    ),
    "callbacks_slow": ("Let `WeightStatistics` work once",),
    "checkpoint_slow": (
        "Save by the clock",
        "Write while training goes",
        "Keep a few checkpoints,",
    ),
    "checkpoint_unbounded": (
        "Keep a few checkpoints,",
        "Save by the clock",
        "Write while training goes",
    ),
    "communication": ("Look at worker 1:",),
    "cpu_contention": (
        "Move the other programs",
        "Leave cores to the",
        "Give the input pipeline",
    ),
    "disk_rewritten_log": ("Append what is new",),
    "garbage_collection_forced": (
        "Look for a `gc.collect()`",
        "Freeze start-up objects after",
        "Collect at a time",
        "Keep fewer Python objects:",
    ),
    "garbage_collection_heap": (
        "Freeze start-up objects after",
        "Collect at a time",
        "Keep fewer Python objects:",
    ),
    "gpu_memory": (
        "Make the batch smaller",
        "Compute in half precision,",
        "Let CUDA manage the",
    ),
    "graph_growth_assign": (
        "Build every operation once,",
        "Finalize the graph before",
        "Or move the step",
    ),
    "graph_growth_slice": (
        "Build every operation once,",
        "Finalize the graph before",
        "Or move the step",
    ),
    "host_device_transfer": (
        "Copy the next batch",
        "Copy images as bytes",
    ),
    "host_memory_faults": ("Read a mapped file",),
    "host_memory_growth": (),
    "input_cache_incomplete": (
        "Take what an epoch",
        "Let the slow stage",
        "Prepare the next batch",
        "Work on whole batches:",
    ),
    "input_dataset_anew": ("Make the dataset once,",),
    "input_shuffle_refill": (
        "Make the shuffle buffer",
        "Shuffle before the expensive",
        "Repeat inside the pipeline,",
    ),
    "input_slow_stage": (
        "Let the slow stage",
        "Prepare the next batch",
        "Work on whole batches:",
    ),
    "optimizer_anew": ("Make the optimizer once,",),
    "optimizer_slots": (
        "Make the optimizer once,",
        "Accumulate gradients: the optimizer",
    ),
    "profiling": ("Capture a few steps",),
    "python_overhead": (
        "Keep a running sum",
        "Bound the buffer: a",
        "Make a numpy array",
    ),
    "retracing_keras_compile": ("Call `compile()` once, before",),
    "retracing_new_function": ("Make the `tf.function` of",),
    "retracing_number": (
        "Pass a tensor for",
        "At retracing_number.py:17, declare what",
    ),
    "retracing_shapes": (
        "At retracing_shapes.py:35, declare what",
        "Pad to a few",
        "Let TensorFlow generalise the",
    ),
    "shape_churn": ("Bring images to one",),
    "summaries": ("Write summaries once in",),
    "tensor_retention_history": (
        "Keep a window of",
        "Keep numbers, not tensors,",
    ),
    "thermal": (
        "Cool the device: clean",
        "Until then set a",
        "Watch clock, temperature and",
    ),
    "warm_up_first_pass": (
        "Keep the decoded data",
        "Let the slow stage",
        "Leave it as it",
    ),
    "xla_keras": (
        "Pad to a few",
        "Keep every batch full;",
        "Leave the part with",
    ),
    "xla_shapes": (
        "Pad to a few",
        "Keep every batch full;",
        "Leave the part with",
    ),
}
"""program -> the advice of its cause; `tests/unit/analysis/causes/test_fixes_apply.py` has all."""

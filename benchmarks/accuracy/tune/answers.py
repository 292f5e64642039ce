"""What is right of each program: the causes that may be named first, or none."""

from __future__ import annotations

from typing import Final

ANSWERS: Final[dict[str, tuple[str, ...]]] = {
    "learning_rate_as_float": ("retracing",),
    "function_in_loop": ("retracing",),
    "ragged_sentences": ("retracing", "shape_churn"),
    "jit_of_any_length": ("xla_compilation",),
    "predict_for_a_plot": ("retracing",),
    "fit_on_each_sample": ("retracing",),
    "csv_generator": ("input_pipeline",),
    "augment_in_python": ("input_pipeline",),
    "shuffled_evaluation": ("input_pipeline", "callbacks"),
    "weights_every_batch": ("checkpointing", "callbacks"),
    "metrics_callback": ("callbacks",),
    "histograms": ("callbacks",),
    "collect_by_hand": ("garbage_collection",),
    "sorted_memory": ("python_overhead",),
    "new_optimizer": ("optimizer_state",),
    "pickled_history": ("disk",),
    "worker_queue": ("python_overhead",),
    "heavier_from_the_middle": ("python_overhead",),
    "plain_loop": (),
    "plain_fit": (),
    "fit_arrays_with_validation": (),
    "alternating_networks": (),
    "longer_episodes": (),
    "three_buckets": (),
    "longer_sequences": (),
    "accumulated_gradients": (),
    "scheduled_rate": (),
    "seldom_checkpoints": (),
    "tensorboard_each_epoch": (),
    "evaluation_now_and_then": (),
    "small_eager_loop": (),
    "unfreezing": (),
    "two_stages": (),
    "prefetched_generator": (),
    "own_thread_ahead": (),
    "early_stopping": (),
}
"""Program -> causes of its defect; () for a healthy one."""

"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {
    "turbine_tcn": Answer(
        ("tensor_retention", "python_overhead"), ("mean_loss = tf.reduce_mean(", "losses.append(")
    ),
    "masked_stars": Answer(("retracing",), ("trainer.step(batch, epoch)", "def step")),
    "thaw_callback": Answer(
        ("retracing",), ("class GradualThaw", "make_train_function(", "model.fit(")
    ),
    "lander_memory": Answer(
        ("python_overhead",), ("def sample", "sample(memory, BATCH)", "memory.append(")
    ),
    "recipe_vectors": Answer(("checkpointing",), ("model.save(",)),
    "flower_edges": Answer(("callbacks", "disk"), ("class Board", "def write", "board.write(")),
    "domain_shift": Answer(
        ("optimizer_state",),
        ("optimizer = tf.keras.optimizers", "optimizer.apply_gradients("),
    ),
    "wake_word": Answer(("input_pipeline",), ("def log_mel", "map(log_mel)", "net.fit(")),
    "pose_heatmaps": Answer(
        ("input_pipeline",),
        ("def draw_heatmaps", "def with_heatmaps", ".map(with_heatmaps", "model.fit("),
    ),
    "tabular_slices": Answer(("input_pipeline",), ("dataset.skip(step)", "def prepare")),
    "tracker_db": Answer(
        ("disk", "python_overhead"),
        ("def log_metric", "def log_metrics", "tracker.log_metrics("),
    ),
    "feature_service": Answer(
        ("input_pipeline", "python_overhead"), ("def fetch_orders", "x, minutes = fetch_orders(")
    ),
    "haiku_lstm": Answer(("callbacks", "python_overhead"), ("class Journal",)),
    "parts_gallery": Answer(("garbage_collection",), ("gc.collect()", "release()")),
    "weights_publisher": Answer(("python_overhead",), ("with model_lock:", "with self.lock:")),
    "river_levels": Answer(
        ("xla_compilation", "retracing", "shape_churn"),
        ("loss = filter_step(past)", "def filter_step"),
    ),
    "v1_plankton": Answer(("graph_growth",), ("one_hot = sess.run(",)),
    "rollout_control": Answer(
        ("backward_pass", "tensor_retention"),
        ("gradients = tape.gradient(", "with tf.GradientTape(persistent=True)"),
    ),
    "gesture_functional": Answer(),
    "burgers_pinn": Answer(),
    "moco_textures": Answer(),
    "maml_waves": Answer(),
    "bucket_translate": Answer(),
    "crystal_batches": Answer(),
    "dcgan_runes": Answer(),
    "halving_search": Answer(),
    "a2c_balance": Answer(),
    "monitored_digits": Answer(),
    "census_layers": Answer(),
    "snapshot_cycles": Answer(),
    "staged_thaw": Answer(),
    "pendulum_horizon": Answer(),
    "futures_ahead": Answer(),
    "ponder_blocks": Answer(),
    "board_patches": Answer(),
    "triplet_shoes": Answer(),
}
"""By program; 18 with one defect each, and 18 healthy ones."""

SHARES: Final[dict[str, float]] = {
    "turbine_tcn": 0.60,
    "masked_stars": 0.47,
    "thaw_callback": 0.47,
    "lander_memory": 0.27,
    "recipe_vectors": 0.36,
    "flower_edges": 0.33,
    "domain_shift": 0.36,
    "wake_word": 0.31,
    "pose_heatmaps": 0.54,
    "tabular_slices": 0.72,
    "tracker_db": 0.47,
    "feature_service": 0.40,
    "haiku_lstm": 0.33,
    "parts_gallery": 0.68,
    "weights_publisher": 0.29,
    "river_levels": 0.66,
    "v1_plankton": 0.61,
    "rollout_control": 0.67,
}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run.

The machine had other work then, so a share is true to about five points in a hundred.
"""

"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {
    "trpo_swimmer": Answer(
        ("retracing",),
        ("def update", "def surrogate_and_gradient", "def fisher_product", "fisher_product("),
    ),
    "ohem_anchors": Answer(
        ("retracing", "shape_churn"),
        ("def train_hard", "loss = train_hard(", "hard = np.flatnonzero("),
    ),
    "speaker_tones": Answer(("retracing",), ("def train_step", "loss = train_step(")),
    "v1_parking_dqn": Answer(
        ("graph_growth",), ("def _replace_target_params", "self._replace_target_params()")
    ),
    "prototype_memory": Answer(
        ("tensor_retention",),
        ("def write", "def read", "def learn", "memory.write(", "loss, hit = learn(x, y)"),
    ),
    "sleep_stages": Answer(("input_pipeline",), ("def __getitem__", "model.fit(")),
    "mushrooms": Answer(("input_pipeline",), ("def load", "files.map(load", "model.fit(")),
    "seismic_windows": Answer(
        ("input_pipeline",),
        ("def band_pass", "map(band_pass", "dataset.shuffle(", "for x, y in dataset"),
    ),
    "basket_negatives": Answer(
        ("input_pipeline", "python_overhead"),
        ("def triplets", "if item not in history[user]", "model.fit(triplets("),
    ),
    "sac_reacher": Answer(("checkpointing",), ("manager.save()",)),
    "swa_wine": Answer(
        ("callbacks", "python_overhead"), ("class StochasticWeightAveraging", "model.fit(")
    ),
    "drone_telemetry": Answer(("disk",), ("def record", "os.fsync(", "log.record(")),
    "kinship_active": Answer(
        ("garbage_collection",),
        ("tf.keras.backend.clear_session()", "def least_certain", "least_certain(model"),
    ),
    "cave_explorer": Answer(("python_overhead",), ("def novelty", "novelty(cave.cell)")),
    "leaf_count_loop": Answer(
        ("python_overhead",), ("def count_correct", "= count_correct(predictions, labels)")
    ),
    "patient_adapt": Answer(
        ("optimizer_state",),
        ("optimizer = tf.keras.optimizers.Adam(3e-3)", "optimizer.apply_gradients("),
    ),
    "smiles_jit": Answer(
        ("xla_compilation", "shape_churn"),
        ("width = max(map(len, batch))", "def __getitem__", "model.compile(", "model.fit("),
    ),
    "robot_tasks": Answer(
        ("backward_pass", "tensor_retention"),
        ("def penalty", "def remember", "memory.penalty(weights)", "tape.gradient(loss, weights)"),
    ),
    "adding_machine": Answer(),
    "coin_resolution": Answer(),
    "fruit_catcher": Answer(),
    "walker_es": Answer(),
    "lora_reviews": Answer(),
    "batch_ramp": Answer(),
    "two_desks": Answer(),
    "folds_of_sizes": Answer(),
    "ddim_glyphs": Answer(),
    "mutual_students": Answer(),
    "simclr_shells": Answer(),
    "predator_ode": Answer(),
    "sage_forum": Answer(),
    "ctc_morse": Answer(),
    "dense_blocks": Answer(),
    "resume_segments": Answer(),
    "gp_kernel": Answer(),
    "log_anomalies": Answer(),
}
"""By program; 18 with one defect each, and 18 healthy ones."""

SHARES: Final[dict[str, float]] = {
    "trpo_swimmer": 0.67,
    "ohem_anchors": 0.55,
    "speaker_tones": 0.56,
    "v1_parking_dqn": 0.65,
    "prototype_memory": 0.47,
    "sleep_stages": 0.37,
    "mushrooms": 0.38,
    "seismic_windows": 0.37,
    "basket_negatives": 0.55,
    "sac_reacher": 0.53,
    "swa_wine": 0.62,
    "drone_telemetry": 0.31,
    "kinship_active": 0.62,
    "cave_explorer": 0.33,
    "leaf_count_loop": 0.59,
    "patient_adapt": 0.27,
    "smiles_jit": 0.55,
    "robot_tasks": 0.45,
}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run."""

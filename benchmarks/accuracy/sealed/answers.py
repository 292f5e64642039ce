"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {
    "ohem_anchors": Answer(
        ("retracing", "shape_churn"),
        ("def train_hard", "loss = train_hard(", "hard = np.flatnonzero("),
    ),
    "speaker_tones": Answer(("retracing",), ("def train_step", "loss = train_step(")),
    "v1_parking_dqn": Answer(
        ("graph_growth",), ("def _replace_target_params", "self._replace_target_params()")
    ),
    "mushrooms": Answer(("input_pipeline",), ("def load", "files.map(load", "model.fit(")),
    "seismic_windows": Answer(
        ("input_pipeline",),
        ("def band_pass", "map(band_pass", "dataset.shuffle(", "for x, y in dataset"),
    ),
    "sac_reacher": Answer(("checkpointing",), ("manager.save()",)),
    "swa_wine": Answer(
        ("callbacks", "python_overhead"), ("class StochasticWeightAveraging", "model.fit(")
    ),
    "kinship_active": Answer(
        ("garbage_collection",),
        ("tf.keras.backend.clear_session()", "def least_certain", "least_certain(model"),
    ),
    "cave_explorer": Answer(("python_overhead",), ("def novelty", "novelty(cave.cell)")),
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
    "fruit_catcher": Answer(),
    "lora_reviews": Answer(),
    "batch_ramp": Answer(),
    "two_desks": Answer(),
    "ddim_glyphs": Answer(),
    "mutual_students": Answer(),
    "simclr_shells": Answer(),
    "predator_ode": Answer(),
    "sage_forum": Answer(),
    "ctc_morse": Answer(),
    "dense_blocks": Answer(),
    "gp_kernel": Answer(),
    "log_anomalies": Answer(),
}
"""By program, those that nobody has looked at since they were scored."""

SHARES: Final[dict[str, float]] = {
    "ohem_anchors": 0.55,
    "speaker_tones": 0.56,
    "v1_parking_dqn": 0.65,
    "mushrooms": 0.38,
    "seismic_windows": 0.37,
    "sac_reacher": 0.53,
    "swa_wine": 0.62,
    "kinship_active": 0.62,
    "cave_explorer": 0.33,
    "patient_adapt": 0.27,
    "smiles_jit": 0.55,
    "robot_tasks": 0.45,
}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run."""

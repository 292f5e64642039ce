"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {
    "scheduled_captions": Answer(
        ("retracing",),
        ("def train_step", "loss = train_step(", "def truth_rate", "rate = truth_rate("),
    ),
    "v1_boltzmann": Answer(
        ("graph_growth",),
        ("def set_momentum", "sess.run(self.momentum.assign(", "rbm.set_momentum(sess"),
    ),
    "satellite_ships": Answer(
        ("input_pipeline",),
        ("def despeckle", "def __getitem__", "despeckle(chip) for chip in x]", "model.fit("),
    ),
    "churn_lift": Answer(("callbacks",), ("class SpectralWatch", "np.linalg.svd(", "model.fit(")),
    "auction_bids": Answer(
        ("optimizer_state",),
        ("optimizer = tf.keras.optimizers.Adam(", "optimizer.apply_gradients("),
    ),
    "reef_survey": Answer(
        ("validation", "checkpointing"),
        ("history = model.fit(", "callbacks.ModelCheckpoint(", "validation_data=valid"),
    ),
    "sorting_curriculum": Answer(),
    "hinge_gan_signals": Answer(),
    "seed_sweep_bees": Answer(),
    "lottery_ticket": Answer(),
    "longer_quests": Answer(),
    "world_model_boat": Answer(),
    "eager_levenberg": Answer(),
    "sonar_prefetch": Answer(),
    "fake_quant_radio": Answer(),
    "v1_skipgram_tunes": Answer(),
    "early_kelp": Answer(),
    "noisy_student_ecg": Answer(),
    "mixture_experts_em": Answer(),
    "river_mouth": Answer(),
}
"""By program, those that nobody has looked at since they were scored."""

SHARES: Final[dict[str, float]] = {
    "scheduled_captions": 0.35,
    "v1_boltzmann": 0.58,
    "satellite_ships": 0.57,
    "churn_lift": 0.43,
    "auction_bids": 0.44,
    "reef_survey": 0.49,
}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run."""

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
    "echo_cancel": Answer(
        ("tensor_retention",),
        ("class Meter", "def update", "def result", "meter.update(", "meter.result()"),
    ),
    "gomoku_values": Answer(
        ("predict_calls", "garbage_collection"),
        ("model.predict(nexts", "def choose", "choose(model, board", "gc.collect()"),
    ),
    "query_rank_pairs": Answer(
        ("summary_writing", "python_overhead"),
        (
            "tf.summary.histogram(",
            "def log_to_board",
            "log_to_board(step",
            "def is_new",
            "def read",
            "self.is_new(session)",
            "fresh = self.read()",
        ),
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
    "point_sets_xla": Answer(
        ("xla_compilation", "shape_churn"),
        ("def update", "loss = update(", "def pad", "x, mask = pad("),
    ),
    "bridge_sensors": Answer(("disk",), ("def enter", "os.fsync(", "journal.enter(")),
    "price_api": Answer(
        ("waiting_in_python",),
        ("def take", "self.quota.take()", "def prices", "exchange.prices("),
    ),
    "glucose_stream": Answer(
        ("backward_pass", "tensor_retention"),
        ("tf.GradientTape(persistent=True)", "grads = tape.gradient("),
    ),
    "thermostat_q": Answer(("fit_calls",), ("self.model.fit(", "def replay", "agent.replay()")),
    "card_opponents": Answer(
        ("model_setup",), ("def opponent", "load_model(", "league.opponent()")
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
    "grownet_loans": Answer(),
}
"""By program, those that nobody has looked at since they were scored."""

SHARES: Final[dict[str, float]] = {
    "scheduled_captions": 0.35,
    "v1_boltzmann": 0.58,
    "echo_cancel": 0.53,
    "gomoku_values": 0.54,
    "query_rank_pairs": 0.82,
    "satellite_ships": 0.57,
    "churn_lift": 0.43,
    "auction_bids": 0.44,
    "point_sets_xla": 0.38,
    "bridge_sensors": 0.42,
    "price_api": 0.46,
    "glucose_stream": 0.59,
    "thermostat_q": 0.56,
    "reef_survey": 0.49,
    "card_opponents": 0.36,
}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run."""

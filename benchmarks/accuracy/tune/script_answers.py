"""What is right of each script: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

SCRIPTS: Final[dict[str, Answer]] = {
    "compile_each_epoch": Answer(("retracing",), ("model.compile(",)),
    "seq2seq_teacher": Answer(("retracing",), ("loss = train_on(", "def train_on")),
    "padded_tagger": Answer(("retracing", "shape_churn"), ("loss = learn(", "def learn")),
    "superres_jit": Answer(
        ("xla_compilation", "retracing", "shape_churn"), ("loss = update(", "def update")
    ),
    "tf1_ranker": Answer(("graph_growth",), ("accuracy = sess.run(",)),
    "gz_reviews": Answer(
        ("input_pipeline",), ("def tokenize", "def reviews", "from_generator(reviews")
    ),
    "tiles_sequence": Answer(("input_pipeline",), ("def __getitem__", "net.fit(")),
    "shuffle_whole_set": Answer(
        ("input_pipeline",), (".shuffle(WINDOWS)", "for x, y in train", "def window")
    ),
    "dqn_grid": Answer(("retracing",), ("self.model.predict(",)),
    "memory_bank": Answer(
        ("tensor_retention", "python_overhead"), ("bank = tf.concat(", "negative = tf.matmul(")
    ),
    "meta_tape": Answer(
        ("backward_pass", "tensor_retention"), ("with tf.GradientTape(", "grads = tape.gradient(")
    ),
    "ckpt_manager": Answer(("checkpointing",), ("manager.save(",)),
    "weight_stats": Answer(("callbacks",), ("class LayerHealth",)),
    "tidy_trials": Answer(("garbage_collection",), ("gc.collect(",)),
    "lr_range_test": Answer(("optimizer_state",), ("optimizer = tf.keras", "optimizer.apply_")),
    "json_log": Answer(("disk", "python_overhead"), ("json.dump(",)),
    "sorted_replay": Answer(("python_overhead",), ("def best", "rows = replay.best(")),
    "loader_process": Answer(("python_overhead", "input_pipeline"), ("x, y = results.get(",)),
    "mcts_selfplay": Answer(
        ("python_overhead",), ("def refresh", "tree.refresh(", "picked = random.sample(")
    ),
    "profile_blocks": Answer(("profiling",)),
    "debug_dump": Answer(("python_overhead", "disk"), ("def report", "report(step)")),
    "next_iter": Answer(("input_pipeline",), ("next(iter(dataset))",)),
    "reinforce_cartpole": Answer(),
    "dqn_warm_buffer": Answer(),
    "wgan_critics": Answer(),
    "longer_context": Answer(),
    "unfreeze_fit": Answer(),
    "three_folds": Answer(),
    "session_loop": Answer(),
    "cosine_with_ema": Answer(),
    "epochs_with_test": Answer(),
    "sequence_workers": Answer(),
    "autoencoder_stop": Answer(),
    "three_tasks": Answer(),
    "accumulate_model": Answer(),
    "heat_equation": Answer(),
    "mixed_lengths": Answer(),
    "reader_thread": Answer(),
    "larger_batches": Answer(),
    "growing_pictures": Answer(),
    "board_scalars": Answer(),
    "eager_rnn": Answer(),
}
"""By script in `programs`; 22 with a defect that was made to cost 15 % or more, 20 healthy ones."""

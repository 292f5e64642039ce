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
    "vae_annealing": Answer(
        ("retracing",), ("self.update(x, weight)", "weight = min(", "def update")
    ),
    "fedavg_phones": Answer(
        ("retracing",),
        ("local = create_", "local.compile(", "local.fit(", "def create_keras_model"),
    ),
    "v1_sentences": Answer(("graph_growth",), ("sess.run(tf.assign(",)),
    "tickets_preview": Answer(
        ("retracing", "callbacks"), ("probability = self.model.predict(", "class Showcase")
    ),
    "retina_watch": Answer(
        ("callbacks",), ("loss, acc = self.model.evaluate(", "class IntervalValidation")
    ),
    "tail_of_csv": Answer(
        ("input_pipeline", "python_overhead"), ("def __getitem__", "x, y = meters[")
    ),
    "two_cameras": Answer(
        ("input_pipeline",), ("def parse", "dataset = tf.data", "in enumerate(dataset)")
    ),
    "birds_folder": Answer(
        ("input_pipeline",), (".cache().take(50)", "def to_features", "model.fit(")
    ),
    "unique_patches": Answer(
        ("python_overhead", "input_pipeline"),
        ("def new_corner", "def __getitem__", "class Patches", "model.fit("),
    ),
    "click_stream": Answer(("python_overhead",), ("def auc", "quality = auc(")),
    "hopper_ppo": Answer(
        ("python_overhead", "tensor_retention"), ("class ReturnScaler", "returns.insert(0, scaler(")
    ),
    "protein_lookup": Answer(
        ("garbage_collection", "callbacks"), ("gc.collect()", "class ReleaseMemory")
    ),
    "music_tags": Answer(
        ("checkpointing", "callbacks"), ("keep = tf.keras.callbacks.ModelCheckpoint(",)
    ),
    "inpainting_board": Answer(("callbacks",), ("tf.summary.image(",)),
    "reptile_sines": Answer(
        ("optimizer_state",), ("adam = tf.keras.optimizers.Adam(", "adam.apply_gradients(")
    ),
    "greenhouse_server": Answer(
        ("python_overhead",), ("def add", "def publish", "status.add(", "text = json.dumps(")
    ),
    "label_on_demand": Answer(
        ("python_overhead", "host_memory"), ("pool_x = np.concatenate(", "pool_y = np.concatenate(")
    ),
    "tide_report": Answer(
        ("python_overhead", "disk"), ("def draw", "def point", "self.draw()", "page.point(")
    ),
    "molecule_graphs": Answer(
        ("retracing", "shape_churn"), ("def fit_molecule", "losses.append(float(fit_molecule(")
    ),
    "parking_logger": Answer(
        ("python_overhead", "disk"),
        ("logger.addHandler(", "logger = get_logger(", "logger.debug(", "def get_logger"),
    ),
    "gan_rings": Answer(),
    "diffusion_moons": Answer(),
    "char_transformer": Answer(),
    "citation_graph": Answer(),
    "td3_cart": Answer(),
    "shapes_distill": Answer(),
    "random_search": Answer(),
    "grid_load": Answer(),
    "fedprox_hospitals": Answer(),
    "v1_supervisor": Answer(),
    "flat_prices": Answer(),
    "cloud_records": Answer(),
    "pyfunc_flips": Answer(),
    "waveform_process": Answer(),
    "dialog_intents": Answer(),
    "bandit_eager": Answer(),
    "paint_picture": Answer(),
    "notebook_embeddings": Answer(),
    "population": Answer(),
    "whale_tails": Answer(),
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
    "trpo_swimmer": Answer(
        ("retracing",),
        ("def update", "def surrogate_and_gradient", "def fisher_product", "fisher_product("),
    ),
    "prototype_memory": Answer(
        ("tensor_retention",),
        ("def write", "def read", "def learn", "memory.write(", "loss, hit = learn(x, y)"),
    ),
    "sleep_stages": Answer(("input_pipeline",), ("def __getitem__", "model.fit(")),
    "basket_negatives": Answer(
        ("input_pipeline", "python_overhead"),
        ("def triplets", "if item not in history[user]", "model.fit(triplets("),
    ),
    "drone_telemetry": Answer(("disk",), ("def record", "os.fsync(", "log.record(")),
    "leaf_count_loop": Answer(
        ("python_overhead",), ("def count_correct", "= count_correct(predictions, labels)")
    ),
    "coin_resolution": Answer(),
    "walker_es": Answer(),
    "folds_of_sizes": Answer(),
    "resume_segments": Answer(),
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
    "echo_cancel": Answer(
        ("tensor_retention",),
        ("class Meter", "def update", "def result", "meter.update(", "meter.result()"),
    ),
    "gomoku_values": Answer(
        ("retracing", "garbage_collection"),
        ("model.predict(nexts", "def choose", "choose(model, board", "gc.collect()"),
    ),
    "query_rank_pairs": Answer(
        ("callbacks", "python_overhead"),
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
    "point_sets_xla": Answer(
        ("xla_compilation", "shape_churn"),
        ("def update", "loss = update(", "def pad", "x, mask = pad("),
    ),
    "bridge_sensors": Answer(("disk",), ("def enter", "os.fsync(", "journal.enter(")),
    "price_api": Answer(
        ("python_overhead",),
        ("def take", "self.quota.take()", "def prices", "exchange.prices("),
    ),
    "glucose_stream": Answer(
        ("backward_pass", "tensor_retention"),
        ("tf.GradientTape(persistent=True)", "grads = tape.gradient("),
    ),
    "thermostat_q": Answer(("retracing",), ("self.model.fit(", "def replay", "agent.replay()")),
    "card_opponents": Answer(("retracing",), ("def opponent", "load_model(", "league.opponent()")),
    "grownet_loans": Answer(),
    "sea_kernel": Answer(
        ("retracing",),
        (
            "@tf.function",
            "def closure():",
            "def make_closure(gp, xb, yb):",
            "closure = make_closure(gp, tf.constant(x[idx]), tf.constant(y[idx]))",
            "loss, grads = closure()",
            "loss = optimizer.step(closure)",
        ),
    ),
    "depot_agent": Answer(
        ("garbage_collection",), ("gc.collect()", "with episode_scope(env) as obs:")
    ),
    "bird_contrast": Answer(
        ("input_pipeline",),
        (
            "part = self.source.skip(self.position).take(n_batches).prefetch(AUTOTUNE)",
            "for pair in part:",
        ),
    ),
    "grid_band": Answer(
        ("tensor_retention",),
        (
            "pooled = tf.sort(tf.concat(self.errors, 0))",
            "self.errors.append(tf.reshape(tf.abs(err), [-1]))",
            "loss, err = train_step(x, y, band.width)",
            "band.update(err)",
        ),
    ),
    "dust_flow": Answer(
        ("checkpointing",),
        (
            "self.manager.save(checkpoint_number=step)",
            "if step >= self.burn_in and self.smooth < self.best:",
            "keeper.offer(step, nll)",
        ),
    ),
    "claims_active": Answer(
        ("disk",),
        (
            "with self.db:",
            "self.db.execute(",
            "self.ledger.note(step, claim, margin[k], guess[k], self.truth[claim])",
        ),
    ),
    "hearing_aid": Answer(
        ("xla_compilation", "shape_churn"),
        (
            "jit_compile=True",
            "frames = int(self.rng.integers(80, 200))",
            'return synth(self.rng, CONFIG["batch"], frames)',
            "loss = self.step(tf.constant(noisy), tf.constant(clean))",
            'trainer.phase("free", crops.utterance, CONFIG["free_steps"])',
        ),
    ),
    "leaf_heads": Answer(
        ("backward_pass",),
        (
            "variables = model.trainable_variables",
            "self.body = body",
            "grads = tape.gradient(loss, variables)",
            "with tf.GradientTape() as tape:",
            "logits = self(x, training=True)",
            "grads, norm = bounded_gradients(tape, loss, self, self.limit)",
            "return self.head(self.body(x, training=False), training=training)",
        ),
    ),
    "digits_vae": Answer(
        ("retracing",),
        (
            "self.model.make_train_function(force=True)",
            "def on_epoch_begin(self, epoch, logs=None):",
            "callbacks=[CyclicalBeta()]",
            "self.model.beta = self.top * min(1.0, 2 * phase)",
            "loss = recon + self.beta * kl",
            "self.beta = 0.0",
        ),
    ),
    "bearing_faults": Answer(
        ("input_pipeline",),
        (
            "part = stream.skip(block * args.block_steps).take(args.block_steps)",
            "seen = model.fit(part, epochs=1, verbose=0).history",
        ),
    ),
    "loan_default": Answer(
        ("callbacks",),
        (
            'json.dump({"entries": self.entries, "smooth": smooth}, f, indent=1)',
            "self.write()",
            "def write(self):",
            "def on_train_batch_end(self, batch, logs=None):",
            "for e in self.entries:",
            "callbacks=[journal, plateau]",
        ),
    ),
    "stock_dqn": Answer(
        ("python_overhead",),
        (
            "weights = [(abs(t.error) + 1e-2) ** self.alpha for t in self.items]",
            "largest = max((len(probs) * p) ** -0.5 for p in probs)",
            "probs = [w / total for w in weights]",
            "index = random.choices(range(len(self.items)), weights=probs, k=size)",
            "def sample(self, size):",
            "index, picked, scale = memory.sample(batch)",
        ),
    ),
    "gesture_embedding": Answer(
        ("tensor_retention",),
        (
            "self.keys.append(keys)",
            "self.labels.append(labels)",
            "return tf.concat(self.keys, 0), tf.concat(self.labels, 0)",
            "memory.push(z, y)",
            "keys, labels = memory.read() if step > WARM + 1 else empty",
            "def push(self, keys, labels):",
            "def read(self):",
        ),
    ),
    "keyword_distill": Answer(
        ("retracing",),
        (
            'return {"temperature": temperature, "hard_weight": hard_weight}',
            "temperature = 1.0 + (self.start_temperature - 1.0) * 0.93**k",
            "hard_weight = 1.0 - 0.9 * 0.95**k",
            "def mix(self, epoch):",
            "mix = distiller.mix(epoch)",
            "loss, hard = distiller.step(clips, labels, mix)",
            "def step(self, clips, labels, mix):",
        ),
    ),
    "warehouse_rounds": Answer(
        ("graph_growth",),
        (
            "self.sess.run(dst.assign(src))",
            "for src, dst in zip(self.online_vars, self.target_vars):",
            "def refresh_target(self):",
            "agent.refresh_target()",
        ),
    ),
    "molecule_energy": Answer(
        ("xla_compilation", "shape_churn"),
        (
            "n = max(len(kind) for kind, _, _ in mols)",
            "def collate(mols):",
            "loss, mae = learner.train(*map(tf.constant, collate([mols[k] for k in picks])))",
            "@tf.function(",
            "def train(self, atoms, bonds, mask, energy):",
        ),
    ),
    "music_stream_bpr": Answer(
        ("python_overhead", "input_pipeline"),
        (
            "while other[k] in self.played[listener]:",
            "self.played = [[] for _ in range(listeners)]",
            "def triplets(self, rng, size, tracks):",
            'u, i, j = history.triplets(rng, cfg["batch"], cfg["tracks"])',
        ),
    ),
    "pulse_diffusion": Answer(
        ("input_pipeline",),
        (
            "return float(np.mean([diffusion.train_step(x0) for x0 in data.take(steps)]))",
            "def run_round(diffusion, data, steps):",
            "loss = run_round(diffusion, data, steps_per_round)",
            ".shuffle(10000, seed=seed)",
            ".map(beat, num_parallel_calls=2)",
            "def recordings(seed, batch):",
        ),
    ),
    "gauge_replay": Answer(
        ("python_overhead",),
        (
            "seen = collections.Counter(e.label for e in self.examples)",
            "for e in self.examples:",
            "age = (now - e.born) / self.memory",
            "weights.append((0.3 + math.exp(-age)) / seen[e.label])",
            "chosen = random.choices(self.examples, weights=weights, k=k)",
        ),
    ),
    "holter_beats": Answer(
        ("input_pipeline",),
        (
            "with np.load(self.paths[number]) as archive:",
            "strips, kinds = self.read_recording(number)",
            "def read_recording(self, number):",
        ),
    ),
    "listing_trainer": Answer(
        ("checkpointing",),
        (
            "trainer.model.save(path)",
            "def after_step(self, trainer, losses):",
            "keep_every: int = 20",
        ),
    ),
    "soil_moisture_sgld": Answer(
        ("tensor_retention",),
        (
            "draws.append(class_probabilities(xt_t))",
            "mean = tf.reduce_mean(tf.stack(draws), axis=0)",
            "draws = []",
        ),
    ),
    "spectra_vat": Answer(
        ("backward_pass",),
        ("r_adv = adversarial_direction(network, x_unl, clean)",),
    ),
    "student_mastery": Answer(
        ("retracing",),
        (
            "weight = waviness_at(step)",
            "def train_step(",
        ),
    ),
    "chant_lm": Answer(),
    "galaxy_gan": Answer(),
    "road_masks": Answer(),
    "shop_ranker": Answer(),
    "soil_posterior": Answer(),
    "credit_teachers": Answer(),
    "leaf_transfer": Answer(),
    "galaxy_stages": Answer(),
    "ring_wgan": Answer(),
    "grid_load_forecast": Answer(),
    "churn_search": Answer(),
    "pendulum_fleet": Answer(),
    "spiral_wgan": Answer(),
    "recall_gru": Answer(),
    "load_pbt": Answer(),
    "ore_kriging": Answer(),
    "ad_clicks_fm": Answer(),
    "alloy_gp": Answer(),
    "pendulum_flow": Answer(),
    "seedlings_notebook": Answer(),
    "ticket_router": Answer(),
    "tide_gauge_mirrored": Answer(),
}
"""By script in `programs`; 111 with a defect that costs at least 10 % (`basket_negatives` and
`sleep_stages` only beside other work), 99 healthy ones."""

"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {
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
}
"""By program; 20 with a defect that costs at least 10 %, measured outside, and 20 healthy ones."""

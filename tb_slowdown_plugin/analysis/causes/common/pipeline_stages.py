"""Advice on single stages of a `tf.data` pipeline: the texts; `input_pipeline` says when."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count

_AT_END = "at the end of your input pipeline"


def called(stage: str) -> str:
    """A stage as it stands in a sentence, with a blank before it.

    tf.data's numbers count from the end, with a root of its own as number 1.

    >>> called("Map#3"), called("")
    (' `Map` (number 2 from the end of the optimized pipeline)', '')
    """
    kind, _, number = stage.partition("#")
    if not kind:
        return ""
    if not number.isdecimal() or int(number) < 2:
        return f" `{kind}`"
    return f" `{kind}`{_place(int(number) - 1)}"


def _place(number: int) -> str:
    """Where a stage is in the pipeline, counted from its end as tf.data does."""
    if number == 1:
        return " (the last stage of the optimized pipeline)"
    return f" (number {number} from the end of the optimized pipeline)"


def parallel_map(stage: str = "", *, is_slow: bool = True) -> Advice:
    """Several elements at once.

    Args:
      stage: The slow stage, "" where it is not known.
      is_slow: Whether it may be the `map` that is slow, and not a stage of another kind.
    """
    what = f"the slow stage{called(stage)}" if is_slow else "each `map`"
    return Advice(
        f"Run {what} in parallel: without `num_parallel_calls`, a `map` processes one element at a "
        "time.",
        snippet(
            old("ds = ds.map(augment)"),
            new("ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "Uses more CPU, and needs free cores.",
        "find the `map` in your input pipeline",
    )


def filter_first() -> Advice:
    """What is thrown away is not computed."""
    return Advice(
        "Put the `filter` before the stages that compute: they work on what it throws away. If its "
        "condition needs a result of theirs, compute that alone before the `filter`.",
        snippet(
            old("ds = ds.map(decode).filter(lambda image, size: size > 32)"),
            new("ds = ds.filter(lambda data, size: size > 32).map(decode)"),
        ),
        "None.",
        "find the `filter` in your input pipeline",
    )


def replace_python(seconds: str = "") -> Advice:
    """TensorFlow's operations instead of Python's."""
    taken = f" (it takes {seconds} per step)" if seconds else ""
    return Advice(
        f"Replace `tf.py_function` or `tf.numpy_function` in the pipeline{taken} with TensorFlow "
        "operations. Python code holds the interpreter lock, so it processes one element at a "
        "time, and `num_parallel_calls` gains little.",
        snippet(
            old(
                "def load(path):",
                "    return tf.py_function(",
                "        lambda p: np.load(p.numpy().decode()), [path], tf.float32)",
            ),
            new(
                "def load(path):",
                "    image = tf.io.decode_png(tf.io.read_file(path), channels=3)",
                "    return tf.image.convert_image_dtype(image, tf.float32)",
            ),
        ),
        "Not everything exists as an operation. Convert data in other formats once.",
        "find the `tf.py_function` in your input pipeline",
    )


def load_in_processes() -> Advice:
    """One interpreter lock for each worker."""
    return Advice(
        "Or run the Python code in several processes: each has its own interpreter lock.",
        snippet(
            new(
                'pool = multiprocessing.get_context("spawn").Pool(4)',
                "ds = tf.data.Dataset.from_generator(",
                "    lambda: pool.imap(load, paths, chunksize=16), output_signature=spec)",
            )
        ),
        "Elements are copied between processes. `load` must be a function of a module, and takes "
        "and returns NumPy arrays.",
        "replaces the `map` with the `tf.py_function`",
    )


def parallel_batch() -> Advice:
    """Several batches at once."""
    return Advice(
        "Build batches in parallel (`num_parallel_calls=tf.data.AUTOTUNE`).",
        snippet(
            old("ds = ds.batch(64)"),
            new("ds = ds.batch(64, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "More CPU at once, and a few more batches of RAM.",
        "find the `batch` in your input pipeline",
    )


def prefetch() -> Advice:
    """The next batch while the step runs."""
    return Advice(
        "Prefetch (`ds.prefetch(tf.data.AUTOTUNE)`), so the next batch loads while the step runs.",
        snippet(new("ds = ds.prefetch(tf.data.AUTOTUNE)")),
        "A few batches of RAM. Hides at most one step of wait.",
        f"{_AT_END}, after `batch`",
    )


def cache(*, moves_shuffle: bool = False, moves_cache: bool = False) -> Advice:
    """Nothing twice.

    Args:
      moves_shuffle: Whether the pipeline shuffles before the work that is to be kept.
      moves_cache: Whether it caches before that work.
    """
    price = (
        "The whole dataset in RAM, or on disk with `cache(filename)`. An epoch that ends early "
        "(`take` after `cache`) never completes it."
    )
    if moves_cache:
        return Advice(
            "Move the `cache` behind what is the same in every epoch, and shuffle after that: it "
            "keeps what comes before it, and what is behind it is computed again in each epoch.",
            snippet(
                old("ds = ds.cache().shuffle(1_000).map(decode)"),
                new("ds = ds.map(decode).cache().shuffle(1_000)"),
            ),
            price,
            "find the `cache` before the `map` in your input pipeline",
        )
    if moves_shuffle:
        return Advice(
            "Cache what is the same in every epoch (`ds.cache()`), and shuffle after that: a cache "
            "after `shuffle` keeps one order for all epochs.",
            snippet(
                old("ds = ds.shuffle(1_000).map(decode)"),
                new("ds = ds.map(decode).cache().shuffle(1_000)"),
            ),
            f"{price} The shuffle buffer then holds decoded elements.",
            "find the `shuffle` before the `map` in your input pipeline",
        )
    return Advice(
        "Cache what is the same in every epoch (`ds.cache()`), before any random augmentation.",
        snippet(
            same("ds = ds.map(decode)"),
            new("ds = ds.cache()"),
            same("ds = ds.shuffle(1_000).map(augment)"),
        ),
        price,
        "in your input pipeline, before `shuffle` and random augmentation",
    )


def bound_history() -> Advice:
    """Nothing in the pipeline that grows with the run."""
    return Advice(
        "Look for Python code in the pipeline that does more work as the run goes on: a "
        "generator, a `PyDataset`, or a `tf.py_function` that keeps a history and searches all "
        "of it. Bound it, or keep a `set` where it only asks `x in seen`.",
        snippet(
            old("seen = []"),
            new("seen = collections.deque(maxlen=10_000)"),
            same("def elements():", "    for x in source:", "        seen.append(x)"),
            same("        yield sample(seen)"),
        ),
        "Elements older than the last 10,000 are dropped.",
        "in the Python code that makes the elements",
    )


def interleave() -> Advice:
    """Several files at once."""
    return Advice(
        "Read several files at once.",
        snippet(
            old("ds = tf.data.TFRecordDataset(files)"),
            new(
                "ds = tf.data.Dataset.from_tensor_slices(files).interleave(",
                "    tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE,",
                "    deterministic=False)",
            ),
        ),
        "The order of the examples is no longer the same in each run.",
        "where your input pipeline opens its files",
    )


def batch_first() -> Advice:
    """One call a batch."""
    return Advice(
        "Process whole batches (`batch` before `map`): one call of the stage per batch instead "
        "of one per example.",
        snippet(
            old("ds = ds.map(scale).batch(64)"),
            new("ds = ds.batch(64).map(scale, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "The stage must accept a batch dimension.",
        "find the `map` before the `batch` in your input pipeline",
    )


def smaller_buffer(elements: int = 0) -> Advice:
    """Less to fill.

    Args:
      elements: of the recorded buffer, 0 where not known.
    """
    least = max(1, elements // 10) if elements else 2_000
    held = f" It holds {count(elements)} elements." if elements else ""
    return Advice(
        f"Make the shuffle buffer smaller: it is filled before the first batch of every epoch."
        f"{held}",
        snippet(
            old(f"ds = ds.shuffle({elements or 100_000:_})"),
            new(f"ds = ds.shuffle({least:_})"),
        ),
        "Examples that are close in the files stay closer in training. Shuffle the list of files, "
        "too.",
        "find the `shuffle` in your input pipeline",
    )


def shuffle_early() -> Advice:
    """Fill it with cheap elements."""
    return Advice(
        "Shuffle before the expensive stages, so that the buffer fills with cheap elements.",
        snippet(
            old("ds = ds.map(decode).shuffle(2_000)"),
            new("ds = ds.shuffle(2_000).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "None; the buffer also takes less RAM.",
        "find the `shuffle` after a `map` in your input pipeline",
    )

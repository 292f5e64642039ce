"""Advice for steps that wait for data."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def on_every_step(
    stage: str = "", *, reads: bool = True, unfilled: bool = False, grows: bool = False
) -> tuple[Advice, ...]:
    """For a wait that many steps have.

    Args:
      stage: the slow stage as tf.data calls it ("Map#3"), "" where not known.
      reads: whether the run reads from disks, or nobody knows.
      unfilled: there is a cache already, and it never completes.
      grows: the wait is longer and longer.
    """
    kind = stage.partition("#")[0]
    if kind.startswith("Shuffle"):
        found = [smaller_buffer(), shuffle_early()]
    elif any(part in kind for part in ("Interleave", "TFRecord", "TextLine", "FixedLength")):
        found = [interleave(), cache()]
    elif "Generator" in kind:
        found = [no_generator(), cache()]
    elif kind.startswith(("Batch", "PaddedBatch")):
        found = [parallel_batch(), cache()]
    elif kind.startswith("Parallel"):
        found = [batch_first(), cache()]
    else:
        found = [parallel_map(stage), cache(), batch_first()]
    found.insert(1, prefetch())
    if not kind and reads:
        found.insert(3, interleave())
    if unfilled:
        found = [complete_the_cache(), *(each for each in found if each != cache())]
    if grows:
        found.insert(0, bound_history())
    return tuple(found)


def at_epoch_starts() -> tuple[Advice, ...]:
    """For a wait at the first batch of each epoch."""
    return (smaller_buffer(), shuffle_early(), repeat_inside())


def parallel_map(stage: str = "") -> Advice:
    """Several elements at once."""
    return Advice(
        f"Let the slow stage{called(stage)} run in parallel; without `num_parallel_calls` a `map` "
        "works on one element at a time.",
        snippet(
            old("ds = ds.map(augment)"),
            new("ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "More CPU at once. Python code in the stage (`tf.py_function`, `tf.numpy_function`) holds "
        "the interpreter lock and gains little.",
    )


def called(stage: str) -> str:
    """A stage as it stands in a sentence, with a blank before it.

    tf.data's numbers count from the end, with a root of its own as number 1.

    >>> called("Map#3"), called("")
    (' `Map` (stage 2 from the end, as tf.data has arranged them)', '')
    """
    kind, _, number = stage.partition("#")
    if not kind:
        return ""
    if not number.isdecimal() or int(number) < 2:
        return f" `{kind}`"
    return f" `{kind}` (stage {int(number) - 1} from the end, as tf.data has arranged them)"


def parallel_batch() -> Advice:
    """Several batches at once."""
    return Advice(
        "Put batches together in parallel.",
        snippet(
            old("ds = ds.batch(64)"),
            new("ds = ds.batch(64, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "More CPU at once, and a few more batches of RAM.",
    )


def no_generator() -> Advice:
    """No Python in the pipeline."""
    return Advice(
        "Make the elements outside of Python: a generator yields one element at a time and holds "
        "the interpreter lock. What fits into memory can be sliced.",
        snippet(
            old("ds = tf.data.Dataset.from_generator(elements, output_signature=spec)"),
            new("ds = tf.data.Dataset.from_tensor_slices(np.stack(list(elements())))"),
        ),
        "All elements in RAM, made once; write larger ones to TFRecord files beforehand.",
    )


def prefetch() -> Advice:
    """The next batch while the step runs."""
    return Advice(
        "Prepare the next batch while the step runs.",
        snippet(same("ds = ds.batch(64)"), new("ds = ds.prefetch(tf.data.AUTOTUNE)")),
        "A few batches of RAM. It hides a wait up to the length of a step, no more.",
    )


def cache() -> Advice:
    """Nothing twice."""
    return Advice(
        "Keep what is the same in every epoch, before anything random.",
        snippet(
            same("ds = ds.map(decode)"),
            new("ds = ds.cache()"),
            same("ds = ds.shuffle(1_000).map(augment)"),
        ),
        "The whole data set in RAM; `cache(filename)` puts it on disk. A pass that is left early "
        "(`take` after `cache`) never completes it.",
    )


def in_py_dataset(workers: int, *, grows: bool = False) -> tuple[Advice, ...]:
    """For a `PyDataset` whose batches are waited for.

    Args:
      workers: how many threads or processes make them.
      grows: the wait is longer and longer.
    """
    several = "several" if workers == 1 else "more"
    so_far = "is one" if workers == 1 else f"are {workers} workers"
    more = max(4, 2 * workers)
    return (
        *((bound_history(),) if grows else ()),
        Advice(
            f"Make {several} batches at once: in processes, where Python makes them, or in threads "
            "(without `use_multiprocessing`), where reading or NumPy does. So far there "
            f"{so_far}.",
            snippet(
                old("train = Batches(x, y)"),
                new(f"train = Batches(x, y, workers={more}, use_multiprocessing=True)"),
            ),
            "A process has a copy of the dataset object, and random numbers of its own seed. The "
            "class hands these arguments on to `PyDataset`: `super().__init__(**kwargs)`.",
        ),
    )


def bound_history() -> Advice:
    """Nothing in the pipeline that grows with the run."""
    return Advice(
        "Look for what grows with the run where batches are made: a generator, a `PyDataset` or a "
        "`tf.py_function` that keeps what it has seen and goes through all of it again. Bound it.",
        snippet(
            old("seen = []"),
            new("seen = collections.deque(maxlen=10_000)"),
            same("def elements():", "    for x in source:", "        seen.append(x)"),
            same("        yield sample(seen)"),
        ),
        "What is older than the last 10,000 elements is gone.",
    )


def complete_the_cache() -> Advice:
    """A cache that is read to its end."""
    return Advice(
        "Take what an epoch needs before `cache()`: it holds only after a pass that has read it to "
        "its end.",
        snippet(
            old("ds = ds.map(decode).cache().take(100)"),
            new("ds = ds.map(decode).take(100).cache()"),
        ),
        "The same 100 elements in each epoch, in RAM. A `break` in the first pass spoils it again.",
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
    )


def batch_first() -> Advice:
    """One call a batch."""
    return Advice(
        "Work on whole batches: one call of the stage instead of one for each example.",
        snippet(
            old("ds = ds.map(scale).batch(64)"),
            new("ds = ds.batch(64).map(scale, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "The stage must accept a batch dimension.",
    )


def smaller_buffer() -> Advice:
    """Less to fill."""
    return Advice(
        "Make the shuffle buffer smaller: it is filled before the first batch of every epoch.",
        snippet(old("ds = ds.shuffle(100_000)"), new("ds = ds.shuffle(2_000)")),
        "Examples that are near in the files stay nearer in training; shuffle the list of files "
        "as well.",
    )


def shuffle_early() -> Advice:
    """Fill it with cheap elements."""
    return Advice(
        "Shuffle before the expensive stages, so that the buffer fills with what is cheap to make.",
        snippet(
            old("ds = ds.map(decode).shuffle(2_000)"),
            new("ds = ds.shuffle(2_000).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"),
        ),
        "None; the buffer also takes less RAM.",
    )


def repeat_inside() -> Advice:
    """One iterator for all epochs."""
    return Advice(
        "Repeat inside the pipeline, so that the buffer stays full from epoch to epoch.",
        snippet(
            old("for epoch in range(epochs):", "    for batch in ds.shuffle(2_000).batch(64):"),
            new("for batch in ds.shuffle(2_000).repeat(epochs).batch(64):"),
            same("        train_step(batch)"),
        ),
        "Examples of two epochs mix where they meet, and the loop no longer sees where one ends.",
    )


def tune_nothing() -> Advice:
    """No thread that tunes the stages, so none to wait for."""
    return Advice(
        "Switch the tuning of the stages off, if none of them is AUTOTUNE: its thread sleeps for "
        "up to as long as the pass took (60 s at most), and some ends wait until it wakes.",
        snippet(
            new("options = tf.data.Options()", "options.autotune.enabled = False"),
            new("ds = ds.with_options(options)"),
        ),
        "`num_parallel_calls=tf.data.AUTOTUNE` is then tuned no more: give it a number.",
    )

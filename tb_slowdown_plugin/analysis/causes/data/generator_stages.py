"""Advice on Python generators and a `PyDataset` that make the data: the texts."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice


def no_generator() -> Advice:
    """No Python in the pipeline."""
    return Advice(
        "Load the data without a Python generator, which yields one element at a time and holds "
        "the interpreter lock. Data that fits into memory can be sliced.",
        snippet(
            old("ds = tf.data.Dataset.from_generator(elements, output_signature=spec)"),
            new("ds = tf.data.Dataset.from_tensor_slices(np.stack(list(elements())))"),
        ),
        "All elements in RAM. Write larger data to TFRecord files first.",
        "find the `from_generator` in your input pipeline",
    )


def generate_batches() -> Advice:
    """One call of Python a batch."""
    return Advice(
        "Let the generator make whole batches with NumPy, and remove `batch`: one call of Python "
        "then makes a batch, not an element.",
        snippet(
            same("def elements():", "    while True:"),
            old("        yield draw_example()"),
            new("        yield draw_examples(32)"),
            same(""),
            old("ds = ds.batch(32)"),
        ),
        "The function must draw several examples at once, as NumPy's random functions do with "
        "`size`.",
        "find the `from_generator` in your input pipeline",
    )


def batches_by_index() -> Advice:
    """Instead of a generator, of which only one can be at work."""
    return Advice(
        "Give `fit` a `keras.utils.PyDataset` with `workers=4` and `use_multiprocessing=True` "
        "instead of a generator: a generator makes one batch after the other, and the workers make "
        "several at once. Each batch must be made from its number alone.",
    )


def less_per_batch() -> Advice:
    """Where no batch is late, and making them takes the step's cores."""
    return Advice(
        "Make a batch in few calls of NumPy, without a loop over its examples, and compute what is "
        "the same in each epoch once, in `__init__`.",
        snippet(
            same("def __getitem__(self, index):"),
            same("    rows = self.order[32 * index : 32 * (index + 1)]"),
            old("    return np.stack([prepare(self.x[row]) for row in rows]), self.y[rows]"),
            new("    return prepare(self.x[rows]), self.y[rows]"),
        ),
        "`prepare` must work on a whole batch.",
        "in the `__getitem__` of your `PyDataset`",
    )


def more_workers(workers: int) -> Advice:
    """For a `PyDataset` that has this many."""
    several = "several" if workers == 1 else "more"
    so_far = "is one" if workers == 1 else f"are {workers} workers"
    more = max(4, 2 * workers)
    return Advice(
        f"Make {several} batches at once: in processes, where Python makes them, or in threads "
        "(without `use_multiprocessing`), where reading or NumPy does. So far there "
        f"{so_far}.",
        snippet(
            old("train = Batches(x, y)"),
            new(f"train = Batches(x, y, workers={more}, use_multiprocessing=True)"),
        ),
        "A process has a copy of the dataset object, and random numbers of its own seed. The "
        "class hands these arguments on to `PyDataset`: `super().__init__(**kwargs)`.",
        "where your `PyDataset` is created",
    )

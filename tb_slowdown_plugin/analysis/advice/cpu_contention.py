"""Advice for a process that is kept off the CPU."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, throttled: bool) -> tuple[Advice, ...]:
    """What to change; `throttled`: a quota holds the process back, not other programs."""
    first = Advice(
        "Raise the container's CPU quota, or remove it: a quota below the number of cores stops "
        "all threads for the rest of each period of 100 ms.",
        "",
        "Other containers of the machine get less.",
    )
    if not throttled:
        first = Advice(
            "Move the other programs away, or run on a machine of your own: nothing in this "
            "program takes these seconds.",
            "",
            "A machine, or the time to wait for one.",
        )
    return (first, _fewer_threads(), _fewer_data_threads())


def _fewer_threads() -> Advice:
    return Advice(
        "Make no more threads than there are cores to use; call it before TensorFlow's first "
        "operation.",
        snippet(
            new(
                "tf.config.threading.set_intra_op_parallelism_threads(4)",
                "tf.config.threading.set_inter_op_parallelism_threads(2)",
            )
        ),
        "Slower where the cores are free after all.",
    )


def _fewer_data_threads() -> Advice:
    return Advice(
        "Give the input pipeline a thread pool of its own, so that it leaves cores to the step.",
        snippet(
            new(
                "options = tf.data.Options()",
                "options.threading.private_threadpool_size = 2",
                "ds = ds.with_options(options)",
            )
        ),
        "A slow pipeline gets slower: look at the input wait afterwards.",
    )

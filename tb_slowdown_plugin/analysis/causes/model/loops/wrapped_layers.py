"""A layer in Keras's `TimeDistributed`, called once for each step of a sequence."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count


def tell_wrapped(numbers: Mapping[str, float], place: str) -> CountedWork:
    """The row of such a layer.

    Args:
      numbers: Of `PIECES`, or of `UNROLLED_ROUNDS`, whichever costs more of it.
      place: The line.
    """
    return CountedWork(
        "a layer that is called for each step of a sequence",
        f"Each step calls a layer {count(numbers['times'])} times, for one step of its sequences "
        f"after the other, in {place}: `TimeDistributed` takes the batch apart, and puts what "
        "comes of it together again.",
        ", by what that starts, reads, and writes in the step's graph, and in its gradients. All "
        "steps have it, so no clock can tell. To trace all of these calls takes as many times as "
        "long, too",
        Advice(
            "Give the layer the whole sequence: `Dense`, `LayerNormalization`, and activations "
            "work on the last dimension of whatever they get. For a layer that doesn't, make one "
            "dimension of examples and steps before it, and two again behind it.",
            snippet(
                old("x = keras.layers.TimeDistributed(keras.layers.Dense(48))(x)"),
                new("x = keras.layers.Dense(48)(x)"),
            ),
            "In a saved model, the weights have other names. `BatchNormalization` then normalizes "
            "all steps of the sequences together, and a mask reaches the layer as a whole.",
            f"in `{place}`",
        ),
    )

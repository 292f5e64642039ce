"""Two other ways to see a slowdown, on the same runs: a library, and a rule of thumb."""

from __future__ import annotations

import numpy as np

from benchmarks.accuracy.quiet import Float

_BUCKETS = 1024


def find_by_kernel(seconds: Float) -> list[int] | None:
    """Rows at which `ruptures.KernelCPD` (rbf) sees a change; None where it is not installed.

    It gets the same help that our engine gives itself: logarithms and medians of
    buckets. The penalty is the library's usual one, the log of the length.
    """
    try:
        import ruptures
    except ImportError:
        return None
    width = max(8, -(-len(seconds) // _BUCKETS))
    count = len(seconds) // width
    medians = np.median(np.log(seconds[: count * width]).reshape(count, width), axis=1)
    model = ruptures.KernelCPD(kernel="rbf", min_size=10).fit(medians[:, None])
    return [width * cut for cut in model.predict(pen=3 * np.log(count))[:-1]]


def is_slower_by_rule(seconds: Float) -> bool:
    """The rule of thumb: the last tenth takes a fifth longer than the first, by median."""
    tenth = max(1, len(seconds) // 10)
    return bool(np.median(seconds[-tenth:]) > 1.2 * np.median(seconds[:tenth]))

"""How much the runs of a TensorFlow 1 session are fed: longer sequences are more work.

Cost: 2 us a run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import islice
from threading import get_ident
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch

_MOST_FEEDS: Final = 16
"""Of a run that are looked at."""


def count_feeds(watch: Stopwatch, learn: Callable[[], int]) -> Surround:
    """What surrounds `Session.run`: counts the numbers in the largest feed of each run.

    Args:
      watch: Counts, for the thread that trains.
      learn: Gives the bit of the session's runs in `Stopwatch.ran`; it never raises.
    """

    def around(
        _session: Any, _fetches: Any = None, feed_dict: Any = None, *_: Any, **__: Any
    ) -> Generator[None, Any, None]:
        yield
        if get_ident() == watch.thread:
            size = size_of_feeds(feed_dict)
            if size:
                watch.ran |= learn()
                watch.argument_size += size

    return around


def size_of_feeds(feeds: Any) -> int:
    """Numbers in the largest of the arrays; 0 where there is none.

    Example:
      >>> import numpy
      >>> size_of_feeds({"ids:0": numpy.zeros((4, 10)), "rate:0": 0.1})
      40
    """
    try:
        sizes = [getattr(value, "size", 0) for value in islice(feeds.values(), _MOST_FEEDS)]
        return max((int(size) for size in sizes if isinstance(size, int)), default=0)
    except Exception:  # noqa: BLE001 - feeds may be of any make
        return 0

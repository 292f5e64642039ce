"""What a TensorFlow 1 session runs in each step, how often, and how much it is fed.

Steps that run other operations are not compared with each other: the updates of two networks, or
an evaluation. Longer sequences are more work.

Cost: 3 us a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from threading import get_ident
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch

_MOST_FEEDS: Final = 16
"""Of a run that are looked at."""
_MOST_FETCHES: Final = 4
"""Likewise; the first ones tell runs apart."""
_MOST_KNOWN: Final = 1_000
"""Runs whose bit is kept: a program that makes operations anew has ever more."""
_MADE_AGAIN: Final = re.compile(r"_\d+(?=[/:]|$)|:0$")


def count_runs(watch: Stopwatch, learn: Callable[[str], int]) -> Surround:
    """What surrounds `Session.run`: counts each run, and the numbers in its largest feed.

    Args:
      watch: Counts, for the thread that trains.
      learn: Gives the bit in `Stopwatch.ran` of what is run; it never raises.
    """
    bits: dict[tuple[str, ...], int] = {}

    def find_bit(fetches: Any) -> int:
        try:
            names = tuple(islice(names_of(fetches), _MOST_FETCHES))
        except Exception:  # noqa: BLE001 - fetches may be of any make
            return 0
        bit = bits.get(names)
        if bit is None:
            if len(bits) >= _MOST_KNOWN:
                bits.clear()
            bit = bits[names] = learn(describe_run(names))
        return bit

    def around(
        _session: Any, fetches: Any = None, feed_dict: Any = None, *_: Any, **__: Any
    ) -> Generator[None, Any, None]:
        yield
        if get_ident() == watch.thread:
            watch.ran |= find_bit(fetches)
            watch.calls += 1
            watch.argument_size += size_of_feeds(feed_dict)

    return around


def names_of(fetches: Any) -> Iterator[str]:
    """The names of what a session is asked for: texts, operations, tensors, variables, in any nest.

    Example:
      >>> list(names_of({"loss": "loss:0", "all": ["train", "mean:0"]}))
      ['loss:0', 'train', 'mean:0']
    """
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, list | tuple):
        for each in fetches:
            yield from names_of(each)
    else:
        name = fetches if isinstance(fetches, str) else getattr(fetches, "name", None)
        if isinstance(name, str):
            yield name


def describe_run(names: tuple[str, ...]) -> str:
    """What a session runs, the same for operations that are made again under other numbers.

    Example:
      >>> describe_run(("agent/Adam_3", "loss:0"))
      'Session.run of agent/Adam, loss'
    """
    return f"Session.run of {', '.join(_MADE_AGAIN.sub('', name) for name in names)}"


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

"""What a TensorFlow 1 session runs though the training doesn't need it, as its graph tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph

_SEEN: Final = 3
"""Times that a run is seen before its graph is looked at."""
_MOST_OPERATIONS: Final = 10_000
"""Of a graph that is looked at, in the training thread, once for each run: 15 to 20 us for each."""
_MOST_RUNS: Final = 20


class SessionWork:
    """Looks at each run once, when it comes again and again.

    Args:
      look: Is given what a run computes, the line that asks for it, and how many steps were
        finished before. Gives the share of the run that each of some accounts gets.
      steps_finished: Tells how many.
    """

    def __init__(
        self,
        look: Callable[[RunGraph, str, int], Mapping[str, float]],
        steps_finished: Callable[[], int],
    ) -> None:
        self._look = look
        self._steps_finished = steps_finished
        self._seen: dict[tuple[str, ...], int] = {}
        self._shares: dict[tuple[str, ...], Mapping[str, float]] = {}

    def shares_of(
        self, session: Any, names: tuple[str, ...], place: Callable[[], str]
    ) -> Mapping[str, float]:
        """Account -> the share of a run that is about to begin; of one that is new, none is known.

        Args:
          session: That runs.
          names: Of all that it is asked for.
          place: Gives the line that asks for it.

        Raises:
          Exception: The graph is of a make that can't be looked at.
        """
        seen = self._seen.get(names, 0)
        if seen < _SEEN and (seen or len(self._seen) < _MOST_RUNS):
            self._seen[names] = seen + 1
            if seen + 1 == _SEEN and len(session.graph.get_operations()) <= _MOST_OPERATIONS:
                run = RunGraph(session.graph, names)
                self._shares[names] = self._look(run, place(), self._steps_finished())
        return self._shares.get(names, {})

"""The accounts that are estimated, one after another: each takes of what the others have left."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.prepare.unclocked.busy_threads import with_busy_threads
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_gradients import with_eager_gradients
from tb_slowdown_plugin.analysis.prepare.unclocked.flat_python import with_flat_python
from tb_slowdown_plugin.analysis.prepare.unclocked.graphs.counted_work import with_counted_work
from tb_slowdown_plugin.analysis.prepare.unclocked.graphs.graph_python import with_graph_python
from tb_slowdown_plugin.analysis.prepare.unclocked.input_work import with_input_work
from tb_slowdown_plugin.analysis.prepare.unclocked.open_tapes import with_open_tapes
from tb_slowdown_plugin.analysis.prepare.unclocked.slow_steps import with_slow_lines
from tb_slowdown_plugin.analysis.prepare.unclocked.waits import with_waits
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Int


def with_estimates(run: Run, measured: Mapping[str, Float], epochs: Int) -> dict[str, Float]:
    """The accounts with all estimated ones, from what is seen to what is reckoned.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds that clocks have measured.
      epochs: Rows at which passes over the data begin.
    """
    made = with_slow_lines(run, measured)  # seen in the very steps that are slow
    made = with_waits(run, made)  # Linux tells that the thread sleeps: nothing computes there
    made = with_open_tapes(run, made)  # what rises with the age of a tape that was seen
    made = with_eager_gradients(run, made)  # beyond steps that run the same graphs
    made = with_graph_python(run, made)  # timed, but in a thread beside the step
    made = with_flat_python(run, made)  # by samples, of what doesn't wait
    made = with_input_work(run, made, epochs)  # what a step takes with the cores to itself
    made = with_busy_threads(run, made)  # a share of the cores of what is left
    return with_counted_work(run, made)  # a share of the graph, which is all that is left

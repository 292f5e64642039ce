"""A dataset, or an iterator over the devices of a strategy, is made anew, and the step waits."""

from __future__ import annotations

from dataclasses import replace

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import (
    RepeatedSetup,
    repeated_setup,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, working_rows
from tb_slowdown_plugin.analysis.causes.data import input_fixes
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait, buffer_is_filled
from tb_slowdown_plugin.analysis.prepare.function_traces import in_training
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY


def find(case: Case, finding: Finding) -> RepeatedSetup | None:
    """What is made anew where most steps of a finding wait: functions of tf.data are traced there.

    Args:
      case: The run.
      finding: In input wait.
    """
    waits = set(working_rows(finding.lost_per_step).tolist())
    traced = {graph.row for graph in case.graphs if graph.detail == names.LIBRARY}
    if len(waits & traced) < MAJORITY * len(waits):
        return None
    library = (graph for graph in in_training(case.graphs) if graph.detail == names.LIBRARY)
    return RepeatedSetup.of(library, in_fit=Program.of(case.run).in_fit)


def summarize(
    case: Case, claimed: tuple[Finding, ...], main: Finding, setup: RepeatedSetup
) -> str | None:
    """When the step waits for what; None where the wait follows another pattern."""
    over_devices = setup.over_devices
    match main.pattern:
        case "epoch_boundary":
            made = "an iterator over the devices" if over_devices else "the dataset"
            return (
                f"Each epoch starts with an input wait: {made} is re-created, its functions are "
                "retraced, and its stages restart."
            )
        case "periodic":
            made = "An iterator over the devices" if over_devices else "A dataset"
            often = cadence(working_rows(main.lost_per_step), len(case.run.steps))
            return (
                f"{made} is re-created {often}, and the step waits while its functions are "
                "retraced and its stages restart."
            )
        case "flat":
            share = percent(case.wall_share(lost_seconds(claimed)))
            if over_devices:
                return (
                    "Each epoch makes a new iterator over the devices of the strategy and waits "
                    f"for it: {share} of the run."
                )
            return (
                "The program or `predict` re-creates a dataset in the step, which waits for it: "
                f"{share} of the run."
            )
        case _:
            return None


def advise(setup: RepeatedSetup, main: Finding, wait: RecordedInputWait) -> tuple[Advice, ...]:
    """To make it once; a buffer that is filled anew with it can be smaller, too."""
    once = repeated_setup(setup)
    filled = replace(wait, at_epochs=True)
    if main.pattern not in ("epoch_boundary", "periodic") or not buffer_is_filled(filled):
        return once
    fills = input_fixes.advise(filled)
    # To trace what hands a batch on takes milliseconds, and has an account of its own.
    return (*fills, *once) if setup.over_devices else (*once, *fills)

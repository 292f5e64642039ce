"""What a reader calls the accounts of a step."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog import names

_TITLES: Final = {
    names.INPUT_WAIT: "Waiting for input",
    names.TRACING: "Tracing",
    names.FIRST_EXECUTION: "First execution of new graphs",
    names.GC: "Garbage collection pauses",
    names.CALLBACK: "Callback",
    names.CHECKPOINT: "Saving checkpoints",
    names.SUMMARY: "Writing summaries",
    names.VALIDATION: "Validation",
    names.COMMUNICATION: "Waiting for other workers",
    names.XLA_COMPILATION: "XLA compilation",
    names.PREDICT: "Calls of predict",
    names.FORWARD: "Forward pass",
    names.BACKWARD: "Backward pass",
    names.OPTIMIZER: "Optimizer",
    names.PHASE: "Phase",
    "optimizer_creation": "Making optimizers and their variables",
}


def account_title(name: str) -> str:
    """An account in words.

    Example:
      >>> account_title("callback:ModelCheckpoint")
      'Callback, ModelCheckpoint'
    """
    family, detail = names.family(name), names.detail(name)
    title = _TITLES.get(family, family.replace("_", " ").capitalize())
    return f"{title}, {detail}" if detail else title

"""What counts as healthy in each account of measured seconds, and from when it is named.

DESIGN section 5 sets the rules; this table is their only copy.

What a reader calls the accounts of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.names import account
from tb_slowdown_plugin.catalog.signals import RUN_DELAY, THREAD_RUN_DELAY, THROTTLED_SECONDS

Class = Literal["never", "first", "configured", "validation", "part"]
"""How an account's seconds count:

- never: a healthy run spends none (retracing, re-creation, profiling);
- first: what happens once, at the beginning, is warm-up;
- configured: asked for by the user; named only where it takes much or grows;
- validation: healthy unless it grows;
- part: the step's own work, as the user's phases divide it; healthy unless it grows.
"""

GROWTH_FLOOR: Final = 0.005
"""Share of the wall from which growth, and warm-up, is named (DESIGN section 5)."""

FLAT_FLOOR: Final = 0.05
"""Share of the wall from which a configured cost is named (DESIGN section 5)."""

INPUT_FLOOR: Final = 0.15
"""The same for waiting for input (DESIGN section 5)."""

CONTENTION: Final = "contention"
"""Family of the accounts of a process that is kept off the CPU."""

THROTTLED: Final = names.account(CONTENTION, "throttled")
"""What a quota stopped the process for: counted, not estimated."""

CONTENTION_FLOOR: Final = 0.01
"""Share of the wall from which it is named that others took more of the cores than before. How much
of what threads wait for is others' doing is estimated, and nobody can do anything about less (on
four idle cores 0.8 % were taken for others' in one healthy program)."""

IN_TURN: Final = names.account(names.COMMUNICATION, "in turn")
"""Workers that wait for each other in turn, where none is late more than the others. Two equal
workers whose steps vary by a tenth wait a twentieth of the time each: named from `INPUT_FLOOR`
on, or if it grows (two workers on one quiet machine: 7 %, `tests/programs/communication.py`)."""

LEAST_PAUSES: Final = 3
"""Pauses of the garbage collector from which it is named (DESIGN section 5)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the seconds of one account are judged."""

    class_: Class
    flat_floor: float
    """Share of the wall from which it is named although it does not grow."""
    least_events: int = 1
    """Steps with a time in this account, below which it is not named."""
    growth_floor: float = GROWTH_FLOOR
    """Share of the wall from which its growth is named."""


_NEVER: Final = Rule("never", GROWTH_FLOOR)

_FIRST: Final = Rule("first", GROWTH_FLOOR)

_CONFIGURED: Final = Rule("configured", FLAT_FLOOR)

_PART: Final = Rule("part", 1.0)

_RULES: Final[dict[str, Rule]] = {
    names.INPUT_WAIT: Rule("configured", INPUT_FLOOR),
    names.account(names.INPUT_WAIT, names.END_OF_PASS): Rule("configured", INPUT_FLOOR),
    names.account(names.TRACING, names.FIRST): _FIRST,
    names.account(names.TRACING, names.AGAIN): _NEVER,
    names.account(names.TRACING, names.LIBRARY): _CONFIGURED,
    names.account(names.FIRST_EXECUTION, names.FIRST): _FIRST,
    names.account(names.FIRST_EXECUTION, names.AGAIN): _NEVER,
    names.account(names.FIRST_EXECUTION, names.LIBRARY): _CONFIGURED,
    names.TRACING: _NEVER,
    names.FIRST_EXECUTION: _NEVER,
    IN_TURN: Rule("configured", INPUT_FLOOR),
    names.GC: Rule("configured", FLAT_FLOOR, LEAST_PAUSES),
    CONTENTION: Rule("configured", FLAT_FLOOR, growth_floor=CONTENTION_FLOOR),
    THROTTLED: _CONFIGURED,
    names.VALIDATION: Rule("validation", 1.0),
    names.FORWARD: _PART,
    names.BACKWARD: _PART,
    names.OPTIMIZER: _PART,
    names.PHASE: _PART,
}

_ZERO_HEALTHY_FAMILIES: Final = frozenset(
    {names.XLA_COMPILATION, "optimizer_creation", "function_creation", "profiling"}
)

WAITING: Final = frozenset({names.INPUT_WAIT, names.COMMUNICATION})
"""Families of accounts in which the training thread sleeps."""

CONTENTION_ACCOUNTS: Final = {
    THREAD_RUN_DELAY: account(CONTENTION, "run_delay"),
    RUN_DELAY: account(CONTENTION, "run_delay"),
    THROTTLED_SECONDS: THROTTLED,
}

STARVED: Final = account(CONTENTION, "input")
"""Waiting for input that was late because its threads got no core (`starved.py`)."""

CREATION = "optimizer_creation"
"""Account: making and building optimizers after the first."""

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


def rule_of(account: str) -> Rule:
    """How the seconds of `account` are judged.

    Example:
      >>> rule_of("tracing:again").class_, rule_of("callback:ModelCheckpoint").flat_floor
      ('never', 0.05)
    """
    family = names.family(account)
    if family in _ZERO_HEALTHY_FAMILIES:
        return _NEVER
    return _RULES.get(account) or _RULES.get(family) or _CONFIGURED


def starts_with_warm_up(account: str) -> bool:
    """Whether its seconds in the warm-up rows are warm-up: tracing, perhaps a first one."""
    tracing = names.family(account) in (names.TRACING, names.FIRST_EXECUTION)
    return tracing and names.detail(account) in ("", names.LIBRARY)


def account_title(name: str) -> str:
    """An account in words.

    Example:
      >>> account_title("callback:ModelCheckpoint")
      'Callback, ModelCheckpoint'
    """
    family, detail = names.family(name), names.detail(name)
    title = _TITLES.get(family, family.replace("_", " ").capitalize())
    return f"{title}, {detail}" if detail else title

"""The accounts of a step's measured seconds: titles, what is healthy, and which cause is to blame.

The table `ACCOUNTS` is the only copy of these rules; `Class` says what each means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.names import account
from tb_slowdown_plugin.catalog.parameters.ledger import (
    CONTENTION_FLOOR,
    FLAT_FLOOR,
    GROWTH_FLOOR,
    INPUT_FLOOR,
)
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL
from tb_slowdown_plugin.catalog.signals import RUN_DELAY, THREAD_RUN_DELAY, THROTTLED_SECONDS

Class = Literal["never", "first", "configured", "validation", "part"]
"""How an account's seconds count:

- never: a healthy run spends none (retracing, re-creation, profiling);
- first: what happens once, at the beginning, is warm-up;
- configured: asked for by the user; named only where it takes much or grows;
- validation: healthy unless it grows;
- part: the step's own work, as the user's phases divide it; healthy unless it grows.
"""


CONTENTION: Final = "contention"
"""Family of the accounts of a process that is kept off the CPU."""

THROTTLED: Final = names.account(CONTENTION, "throttled")
"""What a quota stopped the process for: counted, not estimated."""


IN_TURN: Final = names.account(names.COMMUNICATION, "in turn")
"""Workers that wait for each other in turn, where none is late more than the others. Two equal
workers whose steps vary by a tenth wait a twentieth of the time each: named from `INPUT_FLOOR`
on, or if it grows (two workers on one quiet machine: 7%, `tests/programs/communication.py`)."""


CREATION: Final = "optimizer_creation"
"""Account: making and building optimizers after the first at the same place."""

PROFILING: Final = "profiling"
"""Account: starting the profiler, and collecting and saving what it saw."""


@dataclass(frozen=True, slots=True)
class Account:
    """One account, or a family of them: how its seconds are judged, and what a reader is told."""

    id: str
    """A family, or "family:detail" where that detail is judged otherwise than its family."""
    title: str
    """Of the family; a detail is told after it."""
    class_: Class
    cause: str = ""
    """Of its lost seconds, as far as the account alone tells; "" for the step's own work."""
    flat_floor: float = FLAT_FLOOR
    """Share of the wall from which it is named although it does not grow."""
    least_events: int = 1
    """Steps with a time in this account, below which it is not named."""
    growth_floor: float = GROWTH_FLOOR
    """Share of the wall from which its growth is named."""


_TRACING: Final = "Tracing"
_FIRST_RUN: Final = "First execution of new graphs"
_INPUT: Final = "Input wait"
_NEVER: Final = 1.0
"""Floor of what is not named for being there, only for growing."""

_ACCOUNTS: Final = (
    Account(names.INPUT_WAIT, _INPUT, "configured", "input_pipeline", INPUT_FLOOR),
    Account(account(names.INPUT_WAIT, names.FIRST), _INPUT, "first", "input_pipeline"),
    # These are a share of each step: if they grow, the steps do.
    Account(names.INPUT_WORK, "Input work on the step's cores", "configured", "input_pipeline",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.FED_INPUT, "Input made between steps", "configured", "input_pipeline",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.EAGER, "Operations started one by one", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.CONVERTED, "Lists made tensors", "configured", "python_overhead",
            growth_floor=INPUT_FLOOR),
    Account(names.COPIED, "Arrays copied into tensors", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.OWN_PYTHON, "Python of the program", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.GRAPH_PYTHON, "Python called by graphs", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.POLLING, "Threads that poll", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.OWN_THREAD, "Threads beside the training", "configured", "python_overhead",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.UNUSED_GRADIENTS, "Unused gradients", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.WHOLE_TABLES, "Work on whole tables", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.REPEATED_PASS, "Repeated passes", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.SPARSE_PRODUCTS, "Products with zeros", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.DISTANCES, "Differences of all pairs", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.LOOPS, "Loops over examples", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.UNTAKEN_ROWS, "Rows that nothing takes", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.PIECES, "Tensors moved piece by piece", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.PRODUCT_ORDER, "Order of products", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.FACTORIZATIONS, "Repeated factorizations", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.ZERO_WORK, "Work that is zero", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.BOTH_BRANCHES, "Branches that aren't taken", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.FULL_JACOBIANS, "Jacobians of which the diagonal is used", "configured",
            "backward_pass", INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.PARALLEL_WEIGHTS, "Weights one by one", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.PADDING, "Padding", "configured", "backward_pass",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.GRAPH_REPORTS, "Summaries and metrics in the graph", "configured", "callbacks",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.OPEN_TAPE, "Recording on open tapes", "configured", "tensor_retention",
            INPUT_FLOOR, growth_floor=INPUT_FLOOR),
    Account(names.TRACING, _TRACING, "never", "retracing", GROWTH_FLOOR),
    Account(account(names.TRACING, names.FIRST), _TRACING, "first", "retracing", GROWTH_FLOOR),
    Account(account(names.TRACING, names.LIBRARY), _TRACING, "configured", "retracing"),
    Account(names.FIRST_EXECUTION, _FIRST_RUN, "never", "retracing", GROWTH_FLOOR),
    Account(account(names.FIRST_EXECUTION, names.FIRST), _FIRST_RUN, "first", "retracing",
            GROWTH_FLOOR),
    Account(account(names.FIRST_EXECUTION, names.LIBRARY), _FIRST_RUN, "configured", "retracing"),
    Account(names.SESSION_PREPARE, "Session preparation", "configured", "graph_growth"),
    Account(names.FEEDING, "Conversion of feeds", "configured", "host_device_transfer",
            growth_floor=INPUT_FLOOR),
    Account(names.XLA_COMPILATION, "XLA compilation", "never", "xla_compilation", GROWTH_FLOOR),
    Account(names.PREDICT, "predict() calls", "configured", "retracing"),
    Account(names.CALL, "Calls", "configured", "retracing"),
    Account(names.CLEAR_SESSION, "clear_session() calls", "configured", "garbage_collection"),
    Account(names.SINGLE_CALLS, "One-time calls", "validation", "retracing", _NEVER),
    Account(names.GC, "Garbage collection pauses", "configured", "garbage_collection",
            least_events=SEVERAL),
    Account(names.CALLBACK, "Callback", "configured", "callbacks"),
    Account("callbacks", "Callbacks", "configured", "callbacks"),
    Account(names.CHECKPOINT, "Checkpoint saves", "configured", "checkpointing"),
    Account(names.FILE_WRITE, "File writes", "configured", "disk"),
    Account(names.WAIT, "Lock and queue wait", "configured", "python_overhead",
            INPUT_FLOOR),
    Account(names.CONNECTION, "Connection wait", "configured", "communication", INPUT_FLOOR),
    Account(names.SUMMARY, "Summary writes", "configured", "callbacks"),
    Account(names.VALIDATION, "Validation", "validation", "callbacks", _NEVER),
    Account(names.COMMUNICATION, "All-reduce wait", "configured", "communication"),
    Account(IN_TURN, "All-reduce wait", "configured", "communication", INPUT_FLOOR),
    Account(CONTENTION, "Contention", "configured", "cpu_contention",
            growth_floor=CONTENTION_FLOOR),
    Account(THROTTLED, "Contention", "configured", "cpu_contention"),
    Account(CREATION, "Optimizer creation", "never", "optimizer_state",
            GROWTH_FLOOR),
    Account(PROFILING, "Profiling", "never", "profiling", GROWTH_FLOOR),
    Account(names.FORWARD, "Forward pass", "part", "", _NEVER),
    Account(names.BACKWARD, "Backward pass", "part", "backward_pass", _NEVER),
    Account(names.OPTIMIZER, "Optimizer", "part", "optimizer_state", _NEVER),
    Account(names.PHASE, "Phase", "part", "", _NEVER),
)  # fmt: skip

ACCOUNTS: Final = {one.id: one for one in _ACCOUNTS}
"""By id; an account without an entry is judged like its family."""

BESIDE_TRAINING: Final = frozenset(
    {names.CALLBACK, names.CHECKPOINT, names.SUMMARY, names.FILE_WRITE, names.PREDICT, names.CALL}
)
"""Families of accounts of what a program does between two steps, where it takes no batch."""

WAITING: Final = frozenset({names.CONNECTION, names.INPUT_WAIT, names.COMMUNICATION})
"""Families of accounts in which the training thread sleeps."""

LIBRARY_GRAPHS: Final = frozenset(
    names.account(family, names.LIBRARY) for family in (names.TRACING, names.FIRST_EXECUTION)
)
"""Of functions that TensorFlow and Keras trace for a dataset or a call."""

LATER_GRAPHS: Final = LIBRARY_GRAPHS | {
    names.account(family, names.AGAIN) for family in (names.TRACING, names.FIRST_EXECUTION)
}
"""All but what the first run of anything takes."""

CONTENTION_ACCOUNTS: Final = {
    THREAD_RUN_DELAY: account(CONTENTION, "run_delay"),
    RUN_DELAY: account(CONTENTION, "run_delay"),
    THROTTLED_SECONDS: THROTTLED,
}

SLOW_CPU: Final = account(CONTENTION, "slow_cpu")
"""Computing for longer than on a fast CPU: `ledger/cpu_speed.py`."""

STARVED: Final = account(CONTENTION, "input")
"""Waiting for input that was late because its threads got no core: `ledger/input_contention.py`."""


def rule_of(account: str) -> Account:
    """How the seconds of `account` are judged; one of a newer writer as configured.

    Example:
      >>> rule_of("tracing:again").class_, rule_of("callback:ModelCheckpoint").flat_floor
      ('never', 0.05)
    """
    family = names.family(account)
    known = ACCOUNTS.get(account) or ACCOUNTS.get(family)
    return known or Account(family, family.replace("_", " ").capitalize(), "configured")


def cause_of_account(account: str) -> str | None:
    """The cause id that an account alone points to, None if there is none.

    Example:
      >>> cause_of_account("input_wait"), cause_of_account("forward")
      ('input_pipeline', None)
    """
    return rule_of(account).cause or None


def starts_with_warm_up(account: str) -> bool:
    """Whether its seconds in the warm-up rows are warm-up: tracing, perhaps a first one."""
    tracing = names.family(account) in (names.TRACING, names.FIRST_EXECUTION)
    return tracing and names.detail(account) in ("", names.LIBRARY)


_DETAILED: Final = {
    account(names.TRACING, names.FIRST): "Initial tracing",
    account(names.TRACING, names.AGAIN): "Retracing",
    account(names.TRACING, names.LIBRARY): "Tracing, library functions",
    account(names.FIRST_EXECUTION, names.FIRST): "First execution, initial graphs",
    account(names.FIRST_EXECUTION, names.AGAIN): "First execution, retraced graphs",
    account(names.FIRST_EXECUTION, names.LIBRARY): "First execution, library functions",
}
"""Titles of details that are no names of the program."""


def account_title(name: str) -> str:
    """An account in words.

    Example:
      >>> account_title("callback:ModelCheckpoint"), account_title("tracing:again")
      ('Callback, ModelCheckpoint', 'Retracing')
    """
    if name in _DETAILED:
        return _DETAILED[name]
    title, detail = rule_of(name).title, names.detail(name)
    return f"{title}, {detail}" if detail else title

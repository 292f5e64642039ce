"""What a report says of a run: its causes, their advice, and what could not be seen.

Pure values. `Report` is the contract of `tbslow report --format json` and of
the page: its field names are the JSON's keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tb_slowdown_plugin.analysis.types import Confidence, Pattern, Verdict
from tb_slowdown_plugin.records.plain_values import without_nan
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.records.types import Float, Int

Judged = Literal["whole", "partly"]
"""Whether all of a run could be looked at."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change."""

    text: str
    code: str = ""
    """New lines start with "+", lines that they replace with "-"; others are context."""
    price: str = ""
    """What the change costs, in words."""
    where: str = ""
    """Where in the reader's program the code belongs: "find the `map` in your input pipeline"."""
    kind: Literal["patch", "example"] = "example"
    """Whose code it is: the reader's own line, or an example with names of its own."""
    lines: tuple[int, ...] = ()
    """Of a patch: the line of the file at which each piece of `code` begins."""


@dataclass(frozen=True, slots=True)
class CausePart:
    """What one mechanism took of a cause."""

    part: str
    """An account, "input_wait:first" for the wait for the very first batch, or "core"."""
    title: str
    """The same in words."""
    lost_seconds: float
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    known: str
    """How the seconds are known, in words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program."""

    file: str
    """As records name it: relative to the program's working directory or import path."""
    line: int
    function: str
    """The function there or the call that is made there; "" where not known."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One named cause of a run's slowdown."""

    cause: str
    lost_seconds: float
    lost_fraction: float
    pattern: Pattern
    confidence: Confidence
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    summary: str
    evidence: tuple[str, ...]
    advice: tuple[Advice, ...]
    parts: tuple[CausePart, ...] = ()
    """Of a warm-up: its mechanisms in order of time; they add up to `lost_seconds`."""
    external: bool = False
    """Whether the time was taken from outside of the program, by other processes."""
    place: Place | None = None
    """The line to change; None where the record has none."""
    confirmed: Trial | None = None
    """The experiment that tested it, whatever came of it; None where none has."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A signal that moves with unexplained time; its seconds stay unexplained."""

    cause: str
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class SignalState:
    """Whether a signal was measured."""

    signal: str
    status: Literal["measured", "partly", "unavailable", "off", "failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Confirming:
    """Seconds of a live run that lie above its baseline and whose cause is not confirmed yet."""

    seconds: float
    """Part of the report's `unexplained_seconds`."""
    since_step: int
    """About where they begin."""
    growth_fraction: float | None
    """How much longer a step takes since then, over a healthy step; None if it is no longer."""
    candidate: str | None
    """Id of the cause that they have if they are confirmed; None if no cause fits yet."""
    decided_step: int
    """About the step by which they are confirmed or withdrawn."""
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The last step of a snapshot."""

    step: int
    ended: float
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class Recent:
    """What a step takes at the end of a run."""

    seconds: float
    """Median."""
    steps: int


@dataclass(frozen=True, slots=True)
class RestartingGrowth:
    """Steps that take longer and longer within a cycle, and start over with the next."""

    cycles: int
    steps: int
    """Of a cycle, the median."""
    first_seconds: float
    """What the first steps of a cycle take, the median."""
    last_seconds: float
    above_seconds: float
    """Beyond the first steps of each cycle; they aren't lost."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """How most of the unexplained seconds came about."""

    pattern: Pattern
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class ChangedScalar:
    """A scalar of the program that changes where its steps do; it may be why, or not."""

    tag: str
    before: float
    """Median."""
    after: float
    step: int


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The scalars that a run without records was drawn from."""

    tag: str
    """Its points are the steps."""
    writer: str
    """The run as TensorBoard names it."""
    unit: Literal["step", "epoch"]
    """What one step is."""
    clock: Literal["wall_times", "values"]
    """Whether the wall times of the points timed the steps, or their values."""
    steps_per_point: int
    onset_step: int | None
    """Since when steps take longer; None if they don't."""
    times_as_long: float | None
    """A step since then over one before."""
    pauses: int
    """How many pauses came back, such as an evaluation or a save."""
    pause_seconds: float
    """All of them; healthy unless they get longer."""
    changed: tuple[ChangedScalar, ...]
    """Other scalars that change where steps get slower."""


@dataclass(frozen=True, slots=True)
class Stall:
    """No step has ended for a long time, and none has since."""

    since: float
    """Unix seconds at which the last step ended."""
    seconds: float
    """How long that is, up to the newest record."""
    place: str
    """Function and line of the training thread."""
    account: str | None
    """The account of known work that takes so long, such as "checkpoint"; None where the program
    waits."""
    threads: Mapping[str, int]
    """Place -> other threads of the program there."""
    other_threads: int
    """Other threads of the process in total."""
    text: str
    """The same in words, with what the process does in that time."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a run still takes if it goes on as it does now."""

    steps: int
    seconds: float
    """With validation, saves, and whatever else comes between steps."""
    lost_seconds: float
    """Part of it: what the losses that last cost until the end."""
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note of the program on one of its steps, by `tbslow.summary.note`."""

    row: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class PythonLine:
    """How much of a step one line of the program has, by samples of the training thread."""

    place: str
    """"sample (agent.py:88)"."""
    location: str
    """"agent.py:88"; "" where the place has none."""
    before_fraction: float | None
    """Of the first samples; None where there is one set only."""
    after_fraction: float
    """Of the newest samples."""
    before_seconds: float | None
    """Of a step, in the steps of these samples."""
    after_seconds: float


@dataclass(frozen=True, slots=True)
class PythonLines:
    """Where the training thread was seen, in the first samples of its stack and in the newest."""

    before_steps: tuple[int, int] | None
    """Step numbers; None where there is one set of samples only."""
    before_samples: int
    after_steps: tuple[int, int]
    after_samples: int
    lines: tuple[PythonLine, ...]
    """Those that a step spends most in, or has spent most in; the largest growth first."""


@dataclass(frozen=True, slots=True)
class Investigation:
    """What is known about unexplained time that is the largest part of the loss."""

    moved: tuple[str, ...]
    """What changed where it begins, a sentence each, the strongest first."""
    unmoved: tuple[str, ...]
    """Titles of what was measured and did not change there."""
    advice: tuple[Advice, ...]
    """What to switch on, and what to try next."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the report. The keys of the JSON are these fields, in this order."""

    run: str
    verdict: Verdict
    headline: str
    steps: int
    wall_seconds: float
    healthy_step_seconds: float | None
    baseline: str
    lost_seconds: float
    lost_fraction: float
    unexplained_seconds: float
    causes: tuple[Cause, ...]
    suspects: tuple[Suspect, ...]
    workers: tuple[Mapping[str, Any], ...]
    signals: tuple[SignalState, ...]
    completeness: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    """Whatever a reader must know: "resumed at step 400", "the monitor lost its disk" ..."""
    confirming: Confirming | None = None
    """Of a live run; None if nothing waits to be confirmed."""
    as_of: AsOf | None = None
    """Up to where it was judged: all figures and sentences are of these steps. None without one."""
    recent: Recent | None = None
    """None in a run of few steps."""
    unexplained: Unexplained | None = None
    """None where no pattern holds most of them."""
    judged: Judged = "whole"
    """"partly" where much of the time passed where no collector could look."""
    blind_spots: tuple[str, ...] = ()
    """Where that was and why, a sentence each; empty if `judged` is "whole"."""
    source: Literal["records", "scalars"] = "records"
    """Whether the monitor recorded the run, or its steps are drawn from ordinary scalars."""
    scalars: DrawnFrom | None = None
    """Of a run from scalars; else None."""
    step_rule: str | None = None
    """What counts as a step, by `tbslow run` or by scalars; None where the program says it."""
    stall: Stall | None = None
    """Of a run in which no step ends; None where they do."""
    remaining: Remaining | None = None
    """None where the program didn't say how many steps there are, or all are done."""
    ended: bool = False
    """Whether the monitor of its last process was stopped; False, too, where it was killed."""
    annotations: tuple[Annotation, ...] = ()
    """Notes of the program on its steps, in their order."""
    python: PythonLines | None = None
    """None where the stack was not sampled."""
    investigation: Investigation | None = None
    """None where a named cause has the largest part of the loss."""
    restarting_growth: RestartingGrowth | None = None
    """None where steps don't grow within cycles."""
    steady: bool = False
    """Whether steps keep their pace: none were found to take longer, lost or not."""
    settings: tuple[Mapping[str, str | float], ...] = ()
    """`name` and `value` of versions, devices, items a step, workers."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts, and numbers, as in the JSON; NaN is None."""
        plain: dict[str, Any] = without_nan(asdict(self))
        return plain


@dataclass(frozen=True, slots=True)
class RunAccount:
    """A report with the arrays behind it, for the timeline."""

    report: Report
    healthy_per_step: Float
    """(S,) seconds"""
    lost_per_step: Mapping[str, Float]
    """cause id, "unexplained", "confirming" (not in `unexplained` here) -> (S,) seconds lost in
    each step"""
    change_points: tuple[tuple[int, str], ...]
    """(row, what begins there), ascending"""
    marks: Mapping[str, tuple[Int, Float]] = field(default_factory=dict)
    """"retraces", "gc", "checkpoints" or "captures" -> rows (ascending) and seconds of each"""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """Cause id -> the cause as it stands in a headline."""

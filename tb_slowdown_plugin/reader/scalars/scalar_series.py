"""Ordinary scalars of a run: their points, what their tags mean, and which writers belong together.

Nothing here reads; the points come from event files or from TensorBoard's data provider.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tb_slowdown_plugin.records.metadata import ROOT_RUN, run_name
from tb_slowdown_plugin.records.types import Float, Int

SCALARS_PLUGIN: Final = "scalars"
"""Under this name TensorBoard lists all scalars, those without any metadata too."""

Meaning = Literal["training", "evaluation", "rate", "step_seconds", "other_pace"]
"""What a tag's values are:

- training: anything that is written as training goes on;
- evaluation: written beside training, as seldom as that;
- rate: steps a second;
- step_seconds: seconds a step;
- other_pace: another measure of speed or time, such as examples a second.
"""

_EVALUATION: Final = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "dev"})
_TRAINING: Final = frozenset({"train", "training"})
_WRITERS: Final = _EVALUATION | _TRAINING
_STEP: Final = frozenset({"step", "steps", "it", "iter", "iters", "iteration", "iterations"})
_SECOND: Final = frozenset({"s", "sec", "secs", "second", "seconds"})
_PACE: Final = frozenset(
    {"time", "times", "duration", "elapsed", "throughput", "speed", "fps", "timestamp"}
    | {"secs", "seconds", "sec", "ms"}
)


@dataclass(frozen=True, slots=True)
class ScalarSeries:
    """The points of one tag of one writer, in the order in which they were written."""

    writer: str
    """The run as TensorBoard names it."""
    tag: str
    step: Int
    """(P,)"""
    time: Float
    """(P,) Unix seconds at which each point was written."""
    value: Float
    """(P,)"""

    def __len__(self) -> int:
        return len(self.step)


def meaning_of(tag: str, writer: str = "") -> Meaning:
    """What the values of a tag are, by its words and those of its writer.

    Example:
      >>> meaning_of("loss"), meaning_of("loss", "run1/validation"), meaning_of("global_step/sec")
      ('training', 'evaluation', 'rate')
      >>> meaning_of("perf/examples_per_sec"), meaning_of("sec_per_step"), meaning_of("test_acc")
      ('other_pace', 'step_seconds', 'evaluation')
      >>> meaning_of("examples/s"), meaning_of("time/iterations"), meaning_of("steps_per_sec")
      ('other_pace', 'other_pace', 'rate')
    """
    words = _words(tag)
    if _EVALUATION & {*words, *_words(writer.rpartition("/")[2])}:
        return "evaluation"
    pace = [word for word in words if word in _STEP | _SECOND | _PACE | {"per"}]
    if len(pace) >= 2 and pace[-1] in _SECOND and pace[-2] in _STEP | {"per"}:
        return "rate" if pace[0] in _STEP else "other_pace"
    if pace[-1:] and pace[-1] in _STEP and _SECOND & set(pace):
        return "step_seconds"
    if pace in (["step", "time"], ["time", "per", "step"], ["iteration", "time"], ["iter", "time"]):
        return "step_seconds"
    is_rate = len(words) > 1 and words[-1] in _SECOND
    return "other_pace" if is_rate or _PACE & set(words) else "training"


def is_by_epoch(tag: str) -> bool:
    """Whether a tag by its name is written once an epoch, as Keras's `epoch_loss` is.

    >>> is_by_epoch("epoch_loss"), is_by_epoch("train/loss_epoch"), is_by_epoch("epoch")
    (True, True, False)
    """
    words = _words(tag)
    return "epoch" in words and words != ["epoch"]


def group_writers(tensorboard_runs: Iterable[str]) -> dict[str, str]:
    """The run that each writer of scalars belongs to, both by TensorBoard's names.

    Keras writes "run1/train" and "run1/validation" for one run; a writer below another run
    belongs to that one.

    >>> group_writers(["run1/train", "run1/validation", "b", "b/loss_train"])
    {'run1/train': 'run1', 'run1/validation': 'run1', 'b': 'b', 'b/loss_train': 'b'}
    """
    own = {run: run_name(run)[0] for run in tensorboard_runs}
    named = {run: _parent(name) if _is_writer(name) else name for run, name in own.items()}
    known = set(named.values()) - {ROOT_RUN}
    return {
        run: parent if (parent := _parent(name)) in known and name != ROOT_RUN else name
        for run, name in named.items()
    }


def choose_pace(series: Collection[ScalarSeries]) -> ScalarSeries | None:
    """The densest series of training, whose points are the run's steps; None without one."""
    candidates = [one for one in series if len(one) > 1]
    for meanings in (("training",), ("rate", "step_seconds", "other_pace"), ("evaluation",)):
        found = [one for one in candidates if meaning_of(one.tag, one.writer) in meanings]
        if found:
            return max(found, key=_density)
    return None


def choose_listed(tags: Mapping[str, Mapping[str, float]]) -> tuple[str, str]:
    """The (writer, tag) by which a run is followed in the list: the one written last.

    Args:
      tags: Writer -> tag -> Unix seconds of its last point.
    """
    found = [
        (meaning_of(tag, writer) != "evaluation", last, writer, tag)
        for writer, of in tags.items()
        for tag, last in of.items()
    ]
    return max(found)[2:]


def _density(series: ScalarSeries) -> tuple[int, bool, bool]:
    """More points first; of as many, a loss, and what is not written once an epoch."""
    return len(series), not is_by_epoch(series.tag), "loss" in series.tag.lower()


def _is_writer(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _WRITERS


def _parent(name: str) -> str:
    return name.rpartition("/")[0] or ROOT_RUN


def _words(text: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]

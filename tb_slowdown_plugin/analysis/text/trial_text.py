"""Sentences on experiments: by how much steps got faster, and which cause that confirms."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, duration, significant
from tb_slowdown_plugin.catalog.experiments import EXPERIMENTS, PATCH
from tb_slowdown_plugin.catalog.parameters.views import SMALLEST_EFFECT
from tb_slowdown_plugin.records.trials import Trial


def describe_speedup(ratio: float, interval: tuple[float, float]) -> str:
    """By how much, with the interval.

    Example:
      >>> describe_speedup(1.9, (1.8, 2.0)), describe_speedup(0.5, (0.4, 0.6))
      ('1.9 times faster (1.8 to 2)', '2 times slower (1.67 to 2.5)')
      >>> describe_speedup(1.0, (0.98, 1.01)), describe_speedup(0.9, (0.4, 1.8))
      ('no difference (0.98 to 1.01)', 'too uncertain to tell (0.4 to 1.8)')
    """
    low, high = interval
    if low > 1:
        word = "faster"
    elif high < 1:
        word = "slower"
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    else:
        found = "too uncertain to tell" if is_uncertain(interval) else "no difference"
        return f"{found} ({_figure(low)} to {_figure(high)})"
    return f"{_figure(ratio)} times {word} ({_figure(low)} to {_figure(high)})"


def is_uncertain(interval: tuple[float, float]) -> bool:
    """Whether a speed-up may be none, or one that is worth having.

    Example:
      >>> is_uncertain((0.4, 1.8)), is_uncertain((0.98, 1.01)), is_uncertain((1.2, 1.4))
      (True, False, False)
    """
    low, high = interval
    return low <= 1 and high > 1 + SMALLEST_EFFECT


def describe_trial(trial: Trial) -> str:
    """What an experiment says of a cause.

    Example:
      >>> trial = Trial("prefetch", (2.0, 1.0), 2.0, (1.9, 2.1), "input_pipeline", "no", "")
      >>> describe_trial(trial)
      'confirmed: 2 times faster (1.9 to 2.1) with prefetch, tried on 1970-01-01'
    """
    found = describe_speedup(trial.speedup, trial.interval)
    day = _day(trial)
    word = "confirmed" if trial.interval[0] > 1 else "tried"
    tried = "tried on" if word == "confirmed" else "on"
    by = "its patch" if trial.experiment.startswith(PATCH) else trial.experiment
    return f"{word}: {found} with {by}, {tried} {day}"


def describe_others(trials: Sequence[Trial], causes: Sequence[str]) -> Iterator[str]:
    """What was tried of a run beside what its causes show: a sentence each, the fastest first.

    Example:
      >>> trial = Trial("prefetch", (2.0, 1.0), 2.0, (1.9, 2.1), None, "no", "", ("disk",))
      >>> list(describe_others([trial], ["thermal"]))
      ['Tried prefetch on 1970-01-01: 2 times faster (1.9 to 2.1), from 2 s to 1 s per step.']
      >>> list(describe_others([trial], ["disk"]))
      []
    """
    told = {found.experiment for cause in causes if (found := trial_of(cause, trials))}
    for trial in sorted(trials, key=lambda each: -each.speedup):
        if trial.experiment not in told:
            before, after = map(duration, trial.step_seconds)
            by = describe_speedup(trial.speedup, trial.interval)
            yield (
                f"Tried {trial.experiment} on {_day(trial)}: {by}, "
                f"from {before} to {after} per step."
            )


def trial_of(cause: str, trials: Sequence[Trial]) -> Trial | None:
    """The experiment that says most of a cause: the largest speed-up that is sure, else any.

    Example:
      >>> trial = Trial("prefetch", (2.0, 1.0), 2.0, (1.9, 2.1), None, "no", "", ("disk",))
      >>> trial_of("disk", [trial]).text, trial_of("thermal", [trial])
      ('confirmed: 2 times faster (1.9 to 2.1) with prefetch, tried on 1970-01-01', None)
    """
    tested = [trial for trial in trials if cause in trial.tests]
    if not tested:
        return None
    best = max(tested, key=lambda each: each.interval[0])
    return replace(best, text=describe_trial(best))


def rank_advice(
    cause: str, advice: Sequence[Advice], trials: Sequence[Trial]
) -> tuple[Advice, ...]:
    """Advice that was proved first, and what was tried without a difference last, which it says.

    Example:
      >>> trial = Trial("prefetch", (2.0, 2.0), 1.0, (0.98, 1.02), None, "no", "", ("disk",))
      >>> given = Advice("Prefetch.", "+ ds = ds.prefetch(tf.data.AUTOTUNE)"), Advice("Cache.")
      >>> [each.text for each in rank_advice("disk", given, [trial])]
      ['Cache.', 'Prefetch. Tried on 1970-01-01: no difference (0.98 to 1.02).']
    """
    first, others, last = [], [], []
    for each in advice:
        trial = next((one for one in trials if cause in one.tests and _is_of(one, each)), None)
        if trial is None or (trial.interval[0] <= 1 and trial.interval[1] > 1 + SMALLEST_EFFECT):
            others.append(each)
        elif trial.interval[0] > 1:
            first.append(each)
        else:
            found = describe_speedup(trial.speedup, trial.interval)
            last.append(replace(each, text=f"{each.text} Tried on {_day(trial)}: {found}."))
    return (*first, *others, *last)


def _is_of(trial: Trial, advice: Advice) -> bool:
    """Whether an experiment has the same effect as an advice."""
    experiment = EXPERIMENTS.get(trial.experiment)
    if experiment is None or not experiment.advised:
        return False
    lines = (line for line in advice.code.splitlines() if line.startswith("+"))
    return any(experiment.advised in line for line in lines)


def _day(trial: Trial) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(trial.tried_at))


def _figure(ratio: float) -> str:
    return count(ratio) if ratio >= 100 else significant(ratio, 3)

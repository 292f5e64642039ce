"""What `tbslow run` was asked for, on its way through the environment of the program's process."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import MutableMapping

_PREFIX = "TBSLOW_RUN_"
_NAMES = (
    "logdir",
    "shown",
    "step",
    "profile",
    "quiet",
    "experiment",
    "steps",
    "guarded",
    "allowed",
)


class Settings:
    """How to watch a program. No dataclass: their module takes 4 ms to import.

    Args:
      logdir: Absolute, so that the program may change its directory; "" to choose one.
      shown: The same as the user would type it.
      step: What a step is, "" to find out: a function's name, "fit", or "dataset".
      profile: Whether to take profiler captures, as `tbslow.start` does.
      quiet: Whether nothing is said at the end.
      experiment: Of a trial of `tbslow try`: its name; "" for a run that is none.
      steps: After how many steps a trial ends.
      guarded: Directories that a trial doesn't change, as a list of paths.
      allowed: Directories below them that it may change.
    """

    def __init__(
        self,
        logdir: str = "",
        shown: str = "",
        step: str = "",
        profile: bool = False,
        quiet: bool = False,
        experiment: str = "",
        steps: int = 0,
        guarded: str = "",
        allowed: str = "",
    ) -> None:
        self.logdir = logdir
        self.shown = shown
        self.step = step
        self.profile = profile
        self.quiet = quiet
        self.experiment = experiment
        self.steps = steps
        self.guarded = guarded
        self.allowed = allowed

    def to_environment(self) -> dict[str, str]:
        """As variables; `take_from` is the way back."""
        return {
            _variable(name): "1" if value is True else str(value or "")
            for name, value in vars(self).items()
        }


def find_logdir(shown: str) -> str:
    """Where the records go, whatever directory the program changes to.

    Args:
      shown: As the user has typed it; a place that is no file of this machine stays as it is.

    Example:
      >>> find_logdir("gs://bucket/run")
      'gs://bucket/run'
      >>> find_logdir("/tmp/runs/../a")
      '/tmp/a'
    """
    return shown if "://" in shown else os.path.abspath(shown)  # noqa: PTH100


def take_from(environment: MutableMapping[str, str]) -> Settings:
    """Reads the variables and removes them: children of the program are not watched.

    Example:
      >>> environment = Settings("/tmp/run", "run", quiet=True, steps=200).to_environment()
      >>> chosen = take_from(environment)
      >>> chosen.logdir, chosen.quiet, chosen.steps, environment
      ('/tmp/run', True, 200, {})
    """
    given = {name: environment.pop(_variable(name), "") for name in _NAMES}
    return Settings(
        given["logdir"],
        given["shown"],
        given["step"],
        bool(given["profile"]),
        bool(given["quiet"]),
        given["experiment"],
        int(given["steps"] or 0),
        given["guarded"],
        given["allowed"],
    )


def _variable(name: str) -> str:
    return _PREFIX + name.upper()

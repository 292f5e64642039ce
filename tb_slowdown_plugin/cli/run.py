"""`tbslow run`: parses its own flags by hand.

Everything after the program's name is the program's; and half of the time until it starts would
be argparse's import.
"""

from __future__ import annotations

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.writer.launch.run_script import run_script
from tb_slowdown_plugin.writer.launch.settings import Settings

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_VALUES = {"--logdir": "logdir", "--step": "step"}
_SWITCHES = {"--profile-on-slowdown": "profile", "--quiet": "quiet"}
_HELP = "see 'tbslow run --help'"


def run(arguments: Sequence[str]) -> NoReturn:
    """Becomes the program.

    Args:
      arguments: What follows `run`.

    Raises:
      InputError: A flag that does not exist, or no program.
    """
    settings, program = split(arguments)
    run_script(program, settings)


def split(arguments: Sequence[str]) -> tuple[Settings, list[str]]:
    """Our flags, and the program with its own.

    Raises:
      InputError: As `run`.

    Example:
      >>> split(["--quiet", "--step=fit", "train.py", "--quiet"])[1]
      ['train.py', '--quiet']
      >>> split(["-m", "pkg.train", "-m", "x"])[1]
      ['-m', 'pkg.train', '-m', 'x']
    """
    settings = Settings()
    rest = list(arguments)
    while rest:
        flag, equals, value = rest[0].partition("=")
        if flag in _SWITCHES and not equals:
            setattr(settings, _SWITCHES[flag], True)
        elif flag in _VALUES:
            if not equals:
                del rest[0]
                value = rest[0] if rest else ""
            if not value:
                raise InputError(f"{flag} needs a value; {_HELP}")
            setattr(settings, _VALUES[flag], value)
        elif rest[0] == "-m":
            if len(rest) < 2:
                raise InputError(f"-m needs a module; {_HELP}")
            return settings, rest
        elif rest[0] == "--":
            del rest[0]
            break
        elif flag.startswith("-") and rest[0] != "-":
            raise InputError(f"unrecognized arguments: {rest[0]}; {_HELP}")
        else:
            break
        del rest[0]
    if not rest:
        raise InputError(f"no program to run; {_HELP}")
    return settings, rest

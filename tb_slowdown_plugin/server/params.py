"""Parameters of a request, checked: each refusal gives name, value and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from tb_slowdown_plugin.errors import SlowdownError

_MAX_SHOWN: Final = 60
_MAX_DIGITS: Final = 18
"""No row of any run needs more; a longer number would only cost time to convert."""


class ParameterError(SlowdownError, ValueError):
    """A request's parameter is missing or not allowed."""


def shown(value: str) -> str:
    """A stranger's text as it may stand in an error: quoted, escaped, not too long.

    >>> shown("train")
    "'train'"
    """
    return repr(value) if len(value) <= _MAX_SHOWN else repr(value[:_MAX_SHOWN]) + " ..."


def text(parameters: Mapping[str, str], name: str) -> str:
    """The text of a parameter that must be there.

    Raises:
      ParameterError: It is missing or empty.
    """
    value = parameters.get(name, "")
    if not value:
        raise ParameterError(f"parameter '{name}' is missing; give '{name}=...'")
    return value


def names(parameters: Mapping[str, str], name: str, *, most: int) -> list[str]:
    """The texts of a parameter that is a JSON list: a run's name may hold any character.

    Raises:
      ParameterError: It is missing, no list of texts, empty or too long.
    """
    value = text(parameters, name)
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise ParameterError(
            f"parameter '{name}' is {shown(value)}; it must be a JSON list of names, such as "
            '["run1"]'
        )
    if not 1 <= len(found) <= most:
        raise ParameterError(f"parameter '{name}' has {len(found)} names; it must have 1 to {most}")
    return found


def whole(
    parameters: Mapping[str, str], name: str, default: int, *, least: int, most: int | None = None
) -> int:
    """The whole number of a parameter, or `default` where it is absent.

    `least` and `most` (inclusive, `None`: no limit) hold for what was asked for, not
    for the default.

    Raises:
      ParameterError: It is no whole number, or outside the limits.
    """
    value = parameters.get(name)
    if value is None:
        return default
    allowed = f"from {least} to {most}" if most is not None else f"of at least {least}"
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS):
        raise ParameterError(
            f"parameter '{name}' is {shown(value)}; it must be a whole number {allowed}"
        )
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ParameterError(f"parameter '{name}' is {number}; it must be a whole number {allowed}")
    return number

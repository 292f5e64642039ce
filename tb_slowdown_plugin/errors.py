"""The errors that a user of the package can meet."""

from __future__ import annotations


class SlowdownError(Exception):
    """Base of all errors that this package raises on purpose."""


class UsageError(SlowdownError, ValueError):
    """The API was used in a way that can't work; the text gives value, rule and remedy."""

    # AutoGraph keeps the type of an error raised in a tf.function only if it has this one.
    __init__ = Exception.__init__


class DecodeError(SlowdownError):
    """A record in a logdir can't be read; the text says what is wrong with it."""


class InputError(SlowdownError):
    """A command was given something it can't work on; the text gives value and remedy."""

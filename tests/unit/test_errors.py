"""Messages say what went wrong, and not where on this machine."""

from __future__ import annotations

import json

import pytest

from tb_slowdown_plugin.errors import reason_of, scrub, spoken_reason_of
from tb_slowdown_plugin.records import limits


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/home/ada/logs/events.1: No space left", "events.1: No space left"),
        ("can't open '/home/ada lovelace/x.txt'", "can't open 'x.txt'"),
        (r"C:\Users\ada\run\x.txt is gone", "x.txt is gone"),
        ("~/logs/run1 is full", "run1 is full"),
        ("gs://bucket/ada/logs refused", "(address) refused"),
        ("train.py:41: rate is 0.5/step", "train.py:41: rate is 0.5/step"),
    ],
)
def test_directories_and_addresses_are_left_out(text: str, left: str) -> None:
    assert scrub(text) == left


def test_a_message_stays_short_and_in_one_line() -> None:
    assert scrub("a\n  b") == "a b"
    assert len(scrub("x" * 1000)) == 200


def raised(function, *args):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each test says which
        function(*args)
    return caught.value


def test_what_this_package_and_the_system_say_is_quoted():
    assert reason_of(raised(limits.seconds, -1.0, "a wait")).startswith("DecodeError: ")
    assert reason_of(OSError(28, "No space left on device", "/home/ada/x")) == (
        "OSError: No space left on device"
    )


def test_what_the_program_or_a_library_says_may_hold_its_values_and_is_not_quoted():
    def variables():
        raise RuntimeError("patient Ann Miller is unknown")

    error = raised(variables)
    assert reason_of(error) == "RuntimeError in variables"
    assert spoken_reason_of(error) == "RuntimeError: patient Ann Miller is unknown"
    assert reason_of(raised(json.loads, "{'Ann': 1}")) == "JSONDecodeError in raw_decode"
    assert reason_of(raised({}.__getitem__, "Ann Miller")) == "KeyError in raised"


def test_an_error_without_a_text_has_its_kind():
    assert (reason_of(RuntimeError()), spoken_reason_of(RuntimeError())) == ("RuntimeError",) * 2

"""Messages say what went wrong, and not where on this machine."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.privacy import reason_of, scrub


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


def test_an_error_has_its_kind_and_its_reason() -> None:
    assert reason_of(ValueError("rss is nan")) == "ValueError: rss is nan"
    assert reason_of(OSError(28, "No space left on device", "/home/ada/x")) == (
        "OSError: No space left on device"
    )
    assert reason_of(RuntimeError()) == "RuntimeError"

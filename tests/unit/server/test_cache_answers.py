"""Answers that are the same for all: made once, bounded in bytes, errors never kept."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any

import pytest

from tb_slowdown_plugin.report.json_body import (
    Body,
)
from tb_slowdown_plugin.server.cache import (
    Answers,
)

LONG = 30.0
"""Seconds after which a thread that hangs fails its test."""


def body_of(packed: bytes) -> Any:
    return json.loads(gzip.decompress(packed))


def test_the_same_question_is_answered_once() -> None:
    made: list[int] = []

    def make() -> Body:
        made.append(1)
        return {"steps": len(made)}

    answers = Answers()
    first, again, other = (answers.get("run", asked, 1, make) for asked in ("a", "a", "b"))
    assert first is again
    assert (body_of(first.packed), body_of(other.packed)) == ({"steps": 1}, {"steps": 2})
    assert first.tag != other.tag
    assert Answers().get("run", "c", 1, lambda: {"steps": 1}).tag == first.tag


def test_twenty_who_ask_at_once_wait_for_one() -> None:
    entered, gate, made = threading.Semaphore(0), threading.Event(), []

    def make() -> Body:
        made.append(1)
        entered.release()
        assert gate.wait(LONG)
        return {"steps": len(made)}

    answers, found = Answers(), []
    threads = [
        threading.Thread(target=lambda: found.append(answers.get("run", "a", 1, make)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    assert entered.acquire(timeout=LONG)
    # Another question is not held up by this one.
    other = answers.get("run", "b", 1, lambda: {"steps": 7})
    assert body_of(other.packed) == {"steps": 7}
    gate.set()
    for thread in threads:
        thread.join(LONG)
    assert len(made) == 1
    assert [answer is found[0] for answer in found] == [True] * 20


def test_an_error_is_told_and_not_kept() -> None:
    answers, fails = Answers(), [True]

    def make() -> Body:
        if fails.pop():
            raise ValueError("damaged")
        return {}

    with pytest.raises(ValueError, match="damaged"):
        answers.get("run", "a", 1, make)
    fails.append(False)
    assert body_of(answers.get("run", "a", 1, make).packed) == {}
    assert answers.nbytes == len(gzip.compress(b"{}", 1, mtime=0))


def test_what_was_not_asked_for_the_longest_time_is_dropped() -> None:
    size = Answers().get("run", "a", 1, lambda: {"number": 1}).packed
    answers = Answers(most_bytes=2 * len(size))
    made: list[str] = []

    def ask(asked: str) -> None:
        def make() -> Body:
            made.append(asked)
            return {"number": len(made)}

        answers.get("run", asked, 1, make)

    for asked in ("a", "b", "a", "c", "a", "b"):
        ask(asked)
    assert made == ["a", "b", "c", "b"]
    assert answers.nbytes <= 2 * len(size)
    answers.get("run", "large", 1, lambda: {"text": [*range(10_000)]})
    assert answers.nbytes == 0


def test_answers_of_what_a_run_was_before_are_forgotten() -> None:
    """A live run has another version at each reload, and nobody can ask for an older one."""
    answers = Answers()
    other = answers.get("other", "report", 7, lambda: {"steps": 1})
    for version in range(5):
        sizes = [
            len(answers.get("run", first, version, {"version": version}.copy).packed)
            for first in range(3)
        ]
        assert answers.nbytes == sum(sizes) + len(other.packed)
    assert answers.get("other", "report", 7, dict) is other


def test_an_older_version_is_answered_and_not_kept() -> None:
    """A thread that was slow to ask, while another has seen more of the run."""
    answers = Answers()
    newest = answers.get("run", "a", 2, lambda: {"version": 2})
    older = answers.get("run", "a", 1, lambda: {"version": 1})
    assert body_of(older.packed) == {"version": 1}
    assert answers.get("run", "a", 2, dict) is newest
    assert answers.nbytes == len(newest.packed)

"""Answers that are the same for all: made once, bounded in bytes, errors never kept."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any

import pytest

from tb_slowdown_plugin.server.answers import Answers
from tb_slowdown_plugin.server.body import Body

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
    first, again, other = (answers.get(asked, 1, make) for asked in ("a", "a", "b"))
    assert first is again
    assert (body_of(first.packed), body_of(other.packed)) == ({"steps": 1}, {"steps": 2})
    assert first.tag != other.tag
    assert Answers().get("c", 1, lambda: {"steps": 1}).tag == first.tag


def test_twenty_who_ask_at_once_wait_for_one() -> None:
    entered, gate, made = threading.Semaphore(0), threading.Event(), []

    def make() -> Body:
        made.append(1)
        entered.release()
        assert gate.wait(LONG)
        return {"steps": len(made)}

    answers, found = Answers(), []
    threads = [
        threading.Thread(target=lambda: found.append(answers.get("a", 1, make))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    assert entered.acquire(timeout=LONG)
    # Another question is not held up by this one.
    assert body_of(answers.get("b", 1, lambda: {"steps": 7}).packed) == {"steps": 7}
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
        answers.get("a", 1, make)
    fails.append(False)
    assert body_of(answers.get("a", 1, make).packed) == {}
    assert answers.nbytes == len(gzip.compress(b"{}", 1, mtime=0))


def test_what_was_not_asked_for_the_longest_time_is_dropped() -> None:
    size = Answers().get("a", 1, lambda: {"number": 1}).packed
    answers = Answers(most_bytes=2 * len(size))
    made: list[str] = []

    def ask(asked: str) -> None:
        def make() -> Body:
            made.append(asked)
            return {"number": len(made)}

        answers.get(asked, 1, make)

    for asked in ("a", "b", "a", "c", "a", "b"):
        ask(asked)
    assert made == ["a", "b", "c", "b"]
    assert answers.nbytes <= 2 * len(size)
    answers.get("large", 1, lambda: {"text": [*range(10_000)]})
    assert answers.nbytes == 0


def test_of_each_question_only_the_newest_answer_is_kept() -> None:
    answers = Answers()
    for version in range(5):
        body = {"version": version}
        answer = answers.get("a", version, body.copy)
        assert body_of(answer.packed) == body
        assert answers.nbytes == len(answer.packed)

"""Notes: one line each, cut where they are too long, and no more than the timeline shows."""

from __future__ import annotations

import logging

import pytest

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer.steps.notes import Notes, note_text
from tb_slowdown_plugin.writer.steps.recorder import Recorder


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("learning rate 1e-4", "learning rate 1e-4"),
        ("  two\n lines\t", "two lines"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("/home/ada/shard-7 übung", "/home/ada/shard-7 übung"),
    ],
)
def test_a_note_is_the_given_text_on_one_line(given, kept):
    assert note_text(given) == kept


@pytest.mark.parametrize("given", ["", " \n", None, 7, b"text"])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(UsageError, match=r"expected a text such as"):
        note_text(given)


def test_a_note_belongs_to_the_step_under_way_or_the_next_one():
    recorder = Recorder()
    recorder.notes.add("before")
    recorder.begin(5)
    recorder.notes.add("inside")
    recorder.end()
    recorder.notes.add("between")
    assert [(event.row, event.what) for event in recorder.events] == [
        (0, Fact("note", "before")),
        (0, Fact("note", "inside")),
        (1, Fact("note", "between")),
    ]


def test_after_a_thousand_one_warning_and_nothing_else(caplog):
    kept = []
    notes = Notes(kept.append)
    with caplog.at_level(logging.WARNING):
        for number in range(1_005):
            notes.add(str(number))
    assert [fact.subject for fact in kept] == [str(number) for number in range(1_000)]
    assert [record.getMessage() for record in caplog.records] == [
        "slowdown monitor: more than 1000 notes; later ones are not recorded"
    ]

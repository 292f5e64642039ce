"""Notes of the program, at their steps."""

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.observations import Annotation
from tb_slowdown_plugin.analysis.views.annotations import find_annotations
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.records.types import Fact


def noted(make_run, *notes, size=100):
    return make_run(
        np.full(size, 0.01),
        numbers=np.arange(500, 500 + size),
        events=[(row, Fact("note", text)) for row, text in notes],
    )


def test_notes_stand_at_their_steps_in_order(make_run):
    run = noted(make_run, (7, "rate 1e-4"), (3, "shard 2"), (100, "the end"))
    assert find_annotations(run) == (
        Annotation(3, 503, "shard 2"),
        Annotation(7, 507, "rate 1e-4"),
        Annotation(99, 599, "the end"),
    )


def test_other_facts_are_no_notes_and_a_record_may_not_claim_too_much(make_run):
    run = noted(make_run, *((1, "x" * 300) for _ in range(1_200)))
    found = find_annotations(run)
    assert len(found) == 1_000
    assert {len(each.text) for each in found} == {200}
    assert find_annotations(make_run(np.full(5, 0.01), events=[(1, Fact("checkpoint"))])) == ()


def test_a_run_without_steps_has_none(make_run):
    assert find_annotations(noted(make_run, (0, "begin"), size=0)) == ()


def test_report_and_timeline_have_them(make_run):
    run = noted(make_run, (7, "rate 1e-4"), (60, "shard 2"))
    account = account_for(run)
    assert account.report.to_dict()["annotations"][1] == {
        "row": 60, "step": 560, "text": "shard 2",
    }  # fmt: skip
    body = timeline(run, account, 0, 20, 10)
    assert body["annotations"] == [{"row": 7, "step": 507, "text": "rate 1e-4"}]

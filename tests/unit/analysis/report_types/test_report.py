"""The keys of a report's JSON are a contract: their names and their order."""

from __future__ import annotations

from dataclasses import fields

from tb_slowdown_plugin.analysis.report_types.report import Report


def test_a_report_begins_with_what_every_reader_needs() -> None:
    assert [field.name for field in fields(Report)][:12] == [
        "run", "verdict", "headline", "steps", "wall_seconds", "healthy_step_seconds", "baseline",
        "lost_seconds", "lost_fraction", "unexplained_seconds", "causes", "suspects",
    ]  # fmt: skip


def test_as_plain_values_what_is_not_known_is_none() -> None:
    report = Report(
        "run", "healthy", "Healthy.", 20, 1.5, float("nan"), "", 0.0, 0.0, 0.0, (), (), (), (), {}
    )
    plain = report.to_dict()
    assert list(plain) == [field.name for field in fields(Report)]
    assert (plain["wall_seconds"], plain["healthy_step_seconds"], plain["causes"]) == (
        1.5,
        None,
        [],
    )

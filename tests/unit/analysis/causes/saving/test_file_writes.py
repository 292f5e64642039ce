"""A line that writes files of the program's own is a cause, with the line to change."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
SAVES = np.where(np.arange(SIZE) % 40 == 39, 0.300, 0.0)
LINE = "Log.save (train.py:41)"


def seen(rows):
    numbers = {"ago": 3.0, "writes": 1.0, "written_bytes": 2.0 * 2**20}
    return [(row, Fact("slow_step", LINE, numbers)) for row in rows]


@pytest.mark.parametrize(("rows", "confidence"), [(range(42, 402, 40), "high"), ([42], "medium")])
def test_writing_a_file_is_told_with_its_line(make_run, find, judge, rows, confidence):
    run = make_run(0.010 + SAVES, events=seen(rows))
    other = 0.1 * SAVES
    report = judge(
        run,
        find(f"file_write:{LINE}", "periodic", SAVES),
        find("file_write:plot (p.py:3)", "periodic", other),
    ).report
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("disk", confidence)
    assert cause.lost_seconds == pytest.approx(3.3)
    assert cause.place == Place("train.py", 41, "Log.save")
    assert cause.summary == (
        f"The training thread writes a file in {LINE} every 40 steps; the step takes 300 ms longer."
    )
    assert cause.evidence[1:] == (
        f"The training thread was in that line in {len(rows)} slow "
        f"step{'s' * (len(rows) > 1)}; it wrote 2 MiB in each, on average.",
        "Another 0.30 s was lost in plot (p.py:3).",
    )
    assert [each.text.split()[0] for each in cause.advice] == ["Write", "Write"]
    assert f"writing a file in {LINE}" in report.headline


@pytest.mark.parametrize(
    ("there", "told"),
    [
        (23.0, "In 23 of 50 samples of its stack it wrote a file there."),
        (
            24.0,
            "In 24 of 50 samples of its stack it was there; in 23 of them it was seen to write.",
        ),
    ],
)
def test_a_line_that_writes_in_every_step_is_told_by_samples(make_run, find, judge, there, told):
    numbers = {"samples": there, "of": 50.0, "waits_writing": 23.0}
    run = make_run(np.full(SIZE, 0.050), events=[(200, Fact("python_stack", LINE, numbers))])
    found = find(f"file_write:{LINE}", "flat", np.full(SIZE, 0.023))
    (cause,) = judge(run, found).report.causes
    assert (cause.cause, cause.confidence) == ("disk", "medium")
    assert cause.summary == (
        f"The training thread writes a file in {LINE} at every step; the step takes 23 ms longer."
    )
    assert cause.evidence[1] == told


def test_each_line_that_writes_is_a_row(make_run, find, judge):
    report = judge(
        make_run(0.010 + 2 * SAVES),
        find("file_write:plot (p.py:3)", "periodic", 0.8 * SAVES),
        find(f"file_write:{LINE}", "periodic", SAVES),
    ).report
    assert [(cause.place.line, cause.rank) for cause in report.causes] == [(41, 1), (3, 2)]
    assert [cause.lost_seconds for cause in report.causes] == pytest.approx([3.0, 2.4])
    assert not any("Another" in text for cause in report.causes for text in cause.evidence)

"""Steps that take somewhat longer for a while are told, and are no loss until they are more."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.report.text_report import to_text

SIZE = 400
STEP = 0.01
LATER = np.arange(SIZE) >= 200


@pytest.fixture
def report_of(make_run, find, judge):
    """The report of a run whose steps take longer by such a share, in so long steps."""

    def report(growth=0.4, step=STEP, pattern="level_shift", source="core"):
        lost = step * growth * LATER
        found = find(source, pattern, lost, confidence="medium", growth_fraction=growth)
        return judge(make_run(step + lost), found).report

    return report


@pytest.mark.parametrize("pattern", ["level_shift", "drift"])
def test_a_while_is_told_and_not_lost(report_of, pattern):
    report = report_of(pattern=pattern)
    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    (note,) = (note for note in report.notes if "no reason that was seen" in note)
    assert note.startswith("In steps 200\u2013399 (2.8 s) steps take up to 40.0% longer")
    assert "(800 ms in all)" in note
    assert not report.steady
    assert "hasn't changed" not in to_text([report])


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        pytest.param({"step": 0.03}, 2.4, id="more in all"),
        pytest.param({"step": 0.006, "growth": 1.2}, 1.44, id="more than twice as long"),
        pytest.param({"pattern": "periodic"}, 0.8, id="again and again"),
        pytest.param({"source": "input_wait"}, 0.8, id="what a clock has measured"),
    ],
)
def test_all_else_is_lost(report_of, given, lost):
    report = report_of(**given)
    assert report.verdict == "slowdown"
    assert report.lost_seconds == pytest.approx(lost)

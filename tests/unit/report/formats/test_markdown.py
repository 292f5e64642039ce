from dataclasses import replace

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.formats.markdown import to_markdown


def test_verdict_table_and_fix(slow: Report) -> None:
    text = to_markdown([slow])
    assert text.startswith(
        "## run1: 48 min 3 s of 2 h 35 min lost (31%). "
        "Biggest cause: retracing of train\\_step (train.py:41).\n"
    )
    assert "| Retracing | 1,740.0 s | 18.7% | 1,200\u201312,344 | high |" in text
    assert "| Unexplained | 120.0 s | 1.3% | | |" in text
    assert "- Argument `temperature` is a Python float" in text, "code stays code"
    assert "**Fix.** Pass a tensor." in text
    assert "```python\n# before: train_step(batch, temperature)\ntrain_step(batch, tf." in text


def test_a_name_is_no_markup(slow: Report) -> None:
    text = to_markdown([replace(slow, run="<img src=x>|a*b*\x1b[2J", causes=())])
    assert text.startswith("## \\<img src=x\\>\\|a\\*b\\*")
    assert "\x1b" not in text
    assert "| Cause |" not in text


def test_rows_of_one_cause_have_titles_that_tell_them_apart(slow: Report) -> None:
    cause = slow.causes[0]
    rows = tuple(replace(cause, subject=f"the {name} callback") for name in ("Plots", "Logs"))
    told = to_markdown([replace(slow, causes=rows)])
    titles = [line for line in told.splitlines() if line.startswith("### ")][:2]
    assert [title.partition(": ")[2] for title in titles] == [
        "the Plots callback",
        "the Logs callback",
    ]
    assert "### " + titles[0][4:].partition(": ")[0] in to_markdown([slow]).splitlines()

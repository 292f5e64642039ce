"""A session that is asked for ever other sets of fetches."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact

SIZE = 600
PERIOD = np.full(SIZE, 0.01)


def test_what_other_sets_of_fetches_take_is_a_row_with_the_line(make_run):
    seconds = np.where(np.arange(SIZE) % 5 == 4, 0.05, 0.0)
    run = make_run(
        PERIOD + seconds,
        accounts={"session_prepare:fetches": seconds},
        events=[
            (row, Fact("fetched_at", "main (vae.py:84)", {"sets": float(sets)}))
            for row, sets in ((84, 1), (89, 2), (99, 4))
        ],
    )
    (cause,) = account_for(run).report.causes
    assert (cause.cause, cause.place) == ("graph_growth", Place("vae.py", 84, "run"))
    assert cause.lost_seconds == np.sum(seconds)
    assert cause.subject == "new sets of fetches in main (vae.py:84)"
    assert cause.summary == (
        "The program asks the session for a set of fetches in main (vae.py:84) that it has not run "
        "before, every 5 steps: the session prepares each one."
    )
    assert cause.advice[0].text.startswith("Fetch one set in each step")


def test_both_kinds_of_preparing_are_a_row_each(make_run):
    fetches = np.where(np.arange(SIZE) % 5 == 4, 0.05, 0.0)
    new = np.where(np.arange(SIZE) % 3 == 2, 0.02, 0.0)
    run = make_run(
        PERIOD + fetches + new,
        accounts={"session_prepare:fetches": fetches, "session_prepare": new},
    )
    causes = account_for(run).report.causes
    assert [each.subject for each in causes] == ["new sets of fetches", "graph growth"]
    assert [each.lost_seconds for each in causes] == [np.sum(fetches), np.sum(new)]

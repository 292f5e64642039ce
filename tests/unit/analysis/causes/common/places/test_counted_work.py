"""A row of counted work is of the line that costs most, by the fact that is told of it."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.records.types import Fact

SMALL, LARGE = "f (train.py:3)", "g (train.py:9)"


def tell(numbers, place):
    advice = Advice(f"Mend {place}.")
    return CountedWork("a waste", f"It is {numbers['share']:.1f}.", ", as counted", advice)


def test_it_has_the_seconds_and_the_words_of_its_line(make_run):
    facts = [
        (2, Fact("sparse_product", place, {"share": share, "since": 0.0}))
        for place, share in ((SMALL, 0.2), (LARGE, 0.5))
    ]
    case = open_case(make_run(np.full(400, 0.1), events=facts))
    claim = claim_counted(case, case.of("sparse_products"), {"other": tell, "sparse_product": tell})
    assert [each.source for each in claim.findings] == [f"sparse_products:{LARGE}"]
    assert (claim.place.file, claim.place.line) == ("train.py", 9)
    assert (claim.subject, claim.summary) == (f"a waste: {LARGE}", "It is 0.5.")
    seconds = sum(each.lost_seconds for each in claim.findings)
    assert claim.evidence == (
        f"About {seconds:.1f} s ({seconds / 40:.1%} of the run), as counted.",
    )
    assert seconds == pytest.approx(16.0)  # of what the small one leaves, which is told first
    assert claim.advice[0].text == f"Mend {LARGE}."

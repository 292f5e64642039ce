"""What helps against a slow start: something only where its mechanism was seen."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES
from tb_slowdown_plugin.analysis.causes.startup.warm_up_fixes import SlowStart, advise


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (SlowStart(), ("Leave it as it is",)),
        (SlowStart(models=3), ("Each new model pays",)),
        (
            SlowStart(SHUFFLES, waits=True, fills=True),
            ("Make the shuffle buffer smaller", "Leave it as it is"),
        ),
        (
            SlowStart(builds=True, many_operations=True),
            ("If a Python loop builds this graph", "Leave it as it is"),
        ),
        (SlowStart(first_runs=True), ("Let Grappler skip its passes", "Leave it as it is")),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found

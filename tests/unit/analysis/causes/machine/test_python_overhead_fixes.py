"""What helps against Python work that grows, by what is known of its place."""

import pytest

from tb_slowdown_plugin.analysis.causes.machine.python_overhead_fixes import PythonGrowth, advise


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (PythonGrowth(), ("Keep a running sum", "Bound the buffer", "Make a numpy array once")),
        (
            PythonGrowth(eager=True),
            (
                "Keep a running sum",
                "Bound the buffer",
                "Make a numpy array once",
                "Make the step a `tf.function`",
            ),
        ),
        (
            PythonGrowth(place="total (train.py:8)"),
            (
                "Look at `total (train.py:8)`",
                "Keep a running sum",
                "Bound the buffer",
                "Make a numpy array once",
            ),
        ),
        (PythonGrowth(libraries=frozenset({"matplotlib"})), ("Close each figure",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found

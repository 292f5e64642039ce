"""What is right of each script in `programs`: causes that may be named first, and where.

`script_answers.json` has those with a defect that costs at least 10% (`basket_negatives` and
`sleep_stages` only beside other work), and the names of the healthy ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from benchmarks.accuracy.styles import Answer

_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

SCRIPTS: Final[dict[str, Answer]] = {
    **{
        name: Answer(tuple(right["causes"]), tuple(right["lines"]))
        for name, right in _TABLE["slow"].items()
    },
    **{name: Answer() for name in _TABLE["healthy"]},
}

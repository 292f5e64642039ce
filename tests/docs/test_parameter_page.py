"""Each decision threshold of the catalog is on its page, with its unit and where it is from."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from parameter_page import list_parameters, write_parameters  # noqa: E402


def test_each_threshold_says_what_it_is() -> None:
    page = write_parameters()
    stages = {stage: values for stage, _, values in list_parameters()}
    assert set(stages) >= {"causes", "ledger", "prepare", "residual", "shared", "stats", "views"}
    everything = [one for values in stages.values() for one in values.items()]
    assert len(everything) > 80
    assert len({name for name, _ in everything}) == len(everything)
    for name, one in everything:
        assert one.unit, name
        assert one.what.endswith("."), name
        assert one.source, name
        assert f"| `{name}` | {one:g} {one.unit} | {one.what} | {one.source} |\n" in page

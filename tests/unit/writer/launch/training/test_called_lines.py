"""What trains is named by the line that called it."""

from __future__ import annotations

import sys
from pathlib import Path

from tb_slowdown_plugin.writer.launch.training.called_lines import CalledLines


def test_a_line_is_one_training_under_the_name_that_was_called_there() -> None:
    lines = CalledLines()

    def apply():
        return lines.at(sys._getframe(), "SGD", "apply")

    found = [apply() for _ in range(2)]
    other = lines.at(sys._getframe(), "", "assign", trains=False)
    assert found[0] is found[1]
    assert found[0].kind == "SGD.apply"
    assert f"{Path(__file__).name}:" in found[0].name
    assert (other.kind, other.trains) == ("assign", False)

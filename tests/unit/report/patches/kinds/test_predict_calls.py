"""`predict` in a loop becomes `predict_on_batch`, however the call is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.records.types import Fact


def program(folder: Path, text: str, line: int = 2) -> Program:
    made = Program(folder, text, "retracing")
    return made.saw(**{f"predict:{made.name}:{line}": 1.0})


@pytest.mark.parametrize(
    ("call", "patched"),
    [
        ("q = model.predict(x, verbose=0)", "q = model.predict_on_batch(x)"),
        ("q = self.net.predict(x[None], 32 * 2) if 0 else 1", None),
        ("q = f(self.net . predict(x=x[None]))[0]  # why", "self.net . predict_on_batch(x[None]))"),
        ("q = model.predict(x, batch_size=8, verbose=False)", "model.predict_on_batch(x)"),
        ("q = model.predict(x, steps=3)", None),
        ("q = model.predict(*x)", None),
        ("q = model.predict(a) + other.predict(b)", None),
        ("q = f'{model.predict(x)}'", None),
        ("q = predict(x)", None),
        ("q = 'schön', model.predict('ä', verbose=0)", "('schön', model.predict_on_batch('ä'))"),
    ],
)
def test_the_call_is_replaced_where_it_is_certain(
    tmp_path: Path, call: str, patched: str | None
) -> None:
    found = program(tmp_path, f"for x in data:\n    {call}\n")
    if patched is None:
        assert found.refusals()
    else:
        assert patched.strip("()") in found.patched()
        assert found.changed()[0] == f"-{call}"
        assert len(found.changed()) == 2


def test_a_call_over_several_lines_keeps_the_argument_as_it_is_written(tmp_path: Path) -> None:
    text = """\
    for x in data:
        q = (
            model
            .predict(
                [x,  # first
                 y],
                verbose=0,
            )
        )
    """
    patched = program(tmp_path, text, 4).patched()
    assert "        .predict_on_batch([x,  # first\n             y])\n    )\n" in patched


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_line_ends_tabs_and_marks_stay(tmp_path: Path, newline: str, end: str, begin: str) -> None:
    lines = ["for x in data:", "\tq = model.predict(x)  # naïve", "\tuse(q)"]
    made = program(tmp_path, begin + newline.join(lines) + end.replace("\n", newline))
    lines[1] = "\tq = model.predict_on_batch(x)  # naïve"
    assert made.patched() == begin + newline.join(lines) + end.replace("\n", newline)


def test_a_line_that_has_changed_is_refused(tmp_path: Path) -> None:
    made = program(tmp_path, "for x in data:\n    q = model.predict(x)\n")
    made.path.write_text("for x in data:\n    q = net.predict(x)\n")
    assert "train.py:2 has changed since the run" in made.refusals()


def test_a_file_that_is_not_at_hand_is_refused(tmp_path: Path) -> None:
    made = program(tmp_path, "for x in data:\n    q = model.predict(x)\n")
    made.path.unlink()
    assert "There is no train.py below this directory" in made.refusals()


def test_a_place_in_a_library_is_refused(tmp_path: Path) -> None:
    made = program(tmp_path, "for x in data:\n    q = model.predict(x)\n")
    made.accounts = {"predict:agents/base.py:7": 1.0}
    assert "it is in a library" in made.refusals()


def test_a_file_below_the_directory_is_found_by_its_line(tmp_path: Path) -> None:
    made = program(tmp_path, "for x in data:\n    q = model.predict(x)\n")
    (tmp_path / "src").mkdir()
    made.path.rename(tmp_path / "src" / "train.py")
    (tmp_path / "train.py").write_text("import other\n")
    (patch,) = made.fix().patches
    assert patch.source.name == "src/train.py"


@pytest.mark.parametrize(("batches", "is_certain"), [(40.0, True), (41.0, False), (400.0, False)])
def test_many_examples_are_left_to_predict(
    tmp_path: Path, batches: float, is_certain: bool
) -> None:
    made = program(tmp_path, "for x in data:\n    q = model.predict(x)\n")
    line = "predict:train.py:2|predict|<module> (train.py:2)"
    made.saw(Fact("called", line, {"calls": 40.0, "seconds": 2.0, "batches": batches}))
    if is_certain:
        assert "model.predict_on_batch(x)" in made.patched()
    else:
        assert "computes several batches" in made.refusals()

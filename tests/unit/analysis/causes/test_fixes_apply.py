"""Each advice of each cause: a case in which it is offered, and one in which it must not be."""

from __future__ import annotations

import ast

import pytest
from advice_cases import CASES, every_advice, names_of_all, offers_of
from advice_cases.evidence import ALWAYS

from tb_slowdown_plugin.analysis.causes.common.offers import offered
from tb_slowdown_plugin.analysis.report_types.causes import Advice

EVERY = list(every_advice())


def test_each_advice_has_its_cases():
    assert set(CASES) == names_of_all()


@pytest.mark.parametrize("name", CASES)
def test_an_advice_is_offered_where_it_applies_and_nowhere_else(name):
    applies, absent = CASES[name]
    assert len(offered(offers_of(name), applies)) == 1
    if absent is not ALWAYS:
        assert offered(offers_of(name), absent) == ()


def copied(advice: Advice) -> str:
    """What Copy takes, by the rule of `frontend/src/model/text.ts`."""
    stays = [line for line in advice.code.splitlines() if not line.startswith("-")]
    new = [row for row, line in enumerate(stays) if line.startswith("+")]
    if new and new[-1] - new[0] + 1 == len(new):
        stays = stays[new[0] : new[-1] + 1]
    lines = [line[2:] for line in stays]
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[indent:] for line in lines)


@pytest.mark.parametrize("advice", [each for each in EVERY if each.code], ids=lambda a: a.text[:40])
def test_what_copy_takes_can_be_pasted(advice):
    code = copied(advice)
    decorates = code.splitlines()[0].startswith("@") and "def " not in code
    tree = ast.parse(f"{code}\ndef f(): pass" if decorates else code)
    gaps = [each for each in ast.walk(tree) if isinstance(each, ast.Constant)]
    assert not any(each.value is ... for each in gaps), "`...` runs, with a wrong argument"


@pytest.mark.parametrize("advice", EVERY, ids=lambda a: a.text[:40])
def test_code_that_is_not_the_readers_is_an_example_with_its_place(advice):
    assert advice.kind == "example"
    assert bool(advice.code) == bool(advice.where)
    assert not advice.where.endswith(".")

"""Who keeps the tensors of a run, by its censuses."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.memory.tensor_holders import find_holder
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact

MIB = 2.0**20
LIST = "float32 (32, 10) in list `history` of train.py"
ONE = "float32 (28801, 64) in `bank` of train.py"


@pytest.fixture
def holder_of(make_run):
    def find(*told, grown=10 * MIB):
        run = make_run(np.full(600, 0.1), events=told)
        case = Case(run, None, (), ())
        found = find_holder(case, grown)
        return found, found and found.tell(case)

    return find


def census(row, text, size_bytes, count=1.0):
    return row, Fact("tensor_census", text, {"bytes": size_bytes, "count": count})


def test_what_holds_most_of_the_growth_is_named_with_its_line(holder_of):
    found, text = holder_of(
        census(100, LIST, 2 * MIB, 500.0),
        census(100, "float32 (5000, 784) in `images` of train.py", 60 * MIB),
        census(500, LIST, 12 * MIB, 3000.0),
        census(500, "float32 (5000, 784) in `images` of train.py", 60 * MIB),
        (500, Fact("tensors_added_at", f"main (train.py:30)|{LIST}")),
    )
    assert (found.name, found.grown_bytes) == ("list `history` of train.py", 10 * MIB)
    assert found.place == Place("train.py", 30, "main")
    assert text == (
        "At step 500 list `history` of train.py held 3,000 tensors of `float32 (32, 10)`, 12 MiB "
        "in all."
    )


def test_what_a_variable_holds_more_since_it_was_seen_first_counts_and_not_all_of_it(holder_of):
    row, fact = census(200, ONE, 64 * MIB)
    fact = Fact(fact.name, fact.subject, {**fact.numbers, "grown": 6 * MIB})
    found, _ = holder_of((row, fact))
    assert (found.size_bytes, found.grown_bytes) == (64 * MIB, 6 * MIB)
    few = Fact(fact.name, fact.subject, {**fact.numbers, "grown": 0.5 * MIB})
    assert holder_of((row, few)) == (None, None)


@pytest.mark.parametrize(("alive", "named"), [(22 * MIB, True), (60 * MIB, False)])
def test_what_is_sampled_amid_steps_is_not_kept(holder_of, alive, named):
    row, fact = census(500, ONE, 7 * MIB)
    fact = Fact(fact.name, fact.subject, {**fact.numbers, "live_tensor_bytes": alive})
    found, _ = holder_of((row, fact), grown=31 * MIB)
    assert (found is not None) == named


def test_a_census_when_all_was_freed_names_nobody(holder_of):
    row, fact = census(500, ONE, 0.1 * MIB)
    fact = Fact(fact.name, fact.subject, {**fact.numbers, "live_tensor_bytes": 0.2 * MIB})
    assert holder_of((row, fact), grown=31 * MIB) == (None, None)


def test_of_one_census_all_is_taken_for_growth(holder_of):
    found, text = holder_of(census(450, ONE, 7 * MIB), census(450, "float32 (9,)", 9 * MIB))
    assert found.place is None
    assert text == "At step 450 `bank` of train.py was one tensor of `float32 (28801, 64)`, 7 MiB."


@pytest.mark.parametrize(
    "told", [(), (census(450, "float32 (9,)", 9 * MIB),), (census(450, ONE, 2 * MIB),)]
)
def test_without_a_name_or_of_too_few_bytes_nobody_is(holder_of, told):
    assert holder_of(*told) == (None, None)

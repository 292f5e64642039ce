"""Each account has one entry that says how it is judged, and to which cause it points."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import ACCOUNTS, account_title, cause_of_account, rule_of
from tb_slowdown_plugin.catalog.causes import NAMED
from tb_slowdown_plugin.catalog.parameters.ledger import (
    FLAT_FLOOR,
    GROWTH_FLOOR,
    INPUT_FLOOR,
)


@pytest.mark.parametrize(
    ("account", "class_", "floor", "cause"),
    [
        ("tracing:first", "first", GROWTH_FLOOR, "retracing"),
        ("tracing:again", "never", GROWTH_FLOOR, "retracing"),
        ("tracing:library", "configured", FLAT_FLOOR, "retracing"),
        ("input_wait:end of pass", "configured", INPUT_FLOOR, "input_pipeline"),
        ("communication", "configured", FLAT_FLOOR, "communication"),
        ("communication:in turn", "configured", INPUT_FLOOR, "communication"),
        ("callback:Mine", "configured", FLAT_FLOOR, "callbacks"),
        ("forward", "part", 1.0, None),
        ("backward", "part", 1.0, "backward_pass"),
        ("of_a_newer_writer:x", "configured", FLAT_FLOOR, None),
    ],
)
def test_an_account_is_judged_by_its_entry_or_its_family(account, class_, floor, cause):
    rule = rule_of(account)
    assert (rule.class_, rule.flat_floor, cause_of_account(account)) == (class_, floor, cause)


def test_a_detail_has_an_entry_only_where_it_differs_from_its_family():
    for id_, entry in ACCOUNTS.items():
        family = ACCOUNTS[names.family(id_)]
        if family is entry:
            continue
        assert (entry.title, entry.cause) == (family.title, family.cause)
        judged = [(e.class_, e.flat_floor, e.growth_floor, e.least_events) for e in (entry, family)]
        assert judged[0] != judged[1]


def test_accounts_point_to_causes_that_are_named():
    assert {one.cause for one in ACCOUNTS.values()} - {""} <= set(NAMED)


def test_each_standard_phase_has_an_entry():
    assert set(names.STANDARD_PHASES.values()) <= set(ACCOUNTS)


def test_a_title_has_the_detail_behind_it():
    assert account_title("input_wait:end of pass") == "Input wait, end of pass"
    assert account_title("of_a_newer_writer") == "Of a newer writer"

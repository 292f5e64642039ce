"""The catalog's entries of collectors fit their modules, and name causes that there are."""

from __future__ import annotations

from tb_slowdown_plugin.catalog.causes import CAUSES, NAMED
from tb_slowdown_plugin.catalog.collectors import COLLECTORS, SIGNALS, signal, signal_of
from tb_slowdown_plugin.collectors import registry


def test_each_collector_is_made_in_its_place_and_has_the_name_of_its_entry() -> None:
    entries = [one for one in COLLECTORS.values() if one.home]
    made = registry.create()
    assert [one.name for one in made] == [one.name or one.id for one in entries]
    assert [signal_of(one.name) for one in made] == [one.id for one in entries]
    homes = [
        f"{kind.__module__.partition('.collectors.')[2]}:{kind.__name__}"
        for kind in map(type, made)
    ]
    assert homes == [one.home for one in entries]
    assert [one.id for one in COLLECTORS.values() if not one.home] == ["step_time"]


def test_a_collector_needs_only_those_that_are_made_before() -> None:
    ids = list(COLLECTORS)
    needs = {one.id: one.needs for one in COLLECTORS.values() if one.needs}
    assert needs == dict.fromkeys(
        ("xla_compilation", "repeated_passes", "unchanging_work", "model_setup"), ("retraces",)
    )
    assert all(ids.index(need) < ids.index(one) for one, all_ in needs.items() for need in all_)


def test_what_sees_a_cause_is_a_collector() -> None:
    seen = {one.id: one.seen_by for one in CAUSES.values() if one.seen_by}
    assert {name for names in seen.values() for name in names} <= set(COLLECTORS)
    assert set(NAMED) - set(seen) == {"warm_up"}  # step times show it


def test_a_signal_is_a_suspect_of_a_cause_that_is_named() -> None:
    suspects = {one.name: one.suspect_of for one in SIGNALS.values() if one.suspect_of}
    assert set(suspects.values()) <= set(NAMED)
    assert suspects["rss_bytes"] == "host_memory"


def test_a_signal_is_found_by_its_name_and_its_device() -> None:
    in_use = signal("allocator_in_use_bytes:GPU:0")
    assert in_use is not None
    assert (in_use.unit, in_use.per_device) == ("bytes", True)
    assert signal("something_else") is None
    assert signal("rss_bytes:GPU:0") is None

"""What differs in configuration and environment, each side with all its values."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term
from tb_slowdown_plugin.analysis.compare.setting_changes import SettingChange, compare_settings


def run(**settings: str | float) -> RunLedger:
    return RunLedger("run", 10, Term(1.0, 0.0), Term(1.0, 0.0), {}, 0.0, settings=settings)


def test_only_what_differs_is_told() -> None:
    base = [run(tensorflow="2.20.0", items_per_step=64.0, keras="3")]
    other = [run(tensorflow="2.21.0", items_per_step=128.0, keras="3"), run(keras="3")]
    assert list(compare_settings(base, other)) == [
        SettingChange("items_per_step", "64", "128, unknown"),
        SettingChange("tensorflow", "2.20.0", "2.21.0, unknown"),
    ]
    assert list(compare_settings(base, base)) == []

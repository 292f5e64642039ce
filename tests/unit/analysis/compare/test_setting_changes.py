"""What differs in configuration and environment, each side with all its values."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term, with_hyperparameters
from tb_slowdown_plugin.analysis.compare.setting_changes import SettingChange, compare_settings


def run(**settings: str | float) -> RunLedger:
    return RunLedger("run", 10, Term(1.0, 0.0), Term(1.0, 0.0), {}, 0.0, settings=settings)


def test_only_what_differs_is_told() -> None:
    base = [run(tensorflow="2.20.0", items_per_step=64.0, keras="3")]
    other = [run(tensorflow="2.21.0", items_per_step=128.0, keras="3"), run(keras="3")]
    assert list(compare_settings(base, other)) == [
        SettingChange("tensorflow", "2.20.0", "2.21.0, unknown"),
        SettingChange("items_per_step", "64", "128, unknown"),
    ]
    assert list(compare_settings(base, base)) == []


def test_hyperparameters_come_first_and_win() -> None:
    base = with_hyperparameters(run(keras="3", batch="64"), {"rate": 0.1, "batch": 64.0})
    other = with_hyperparameters(run(keras="4", batch="64"), {"rate": 0.2, "batch": 128.0})
    assert list(compare_settings([base], [other])) == [
        SettingChange("rate", "0.1", "0.2"),
        SettingChange("batch", "64", "128"),
        SettingChange("keras", "3", "4"),
    ]

"""The settings: each is told in whole sentences, and measured where no GPU is needed."""

from __future__ import annotations

import pytest

from benchmarks import slow_settings as measured
from tb_slowdown_plugin.catalog.slow_settings import LAUNCH_BLOCKING, SLOW_SETTINGS, SlowSetting


@pytest.mark.parametrize("setting", SLOW_SETTINGS.values(), ids=lambda setting: setting.id)
def test_a_setting_says_what_is_done_for_it_and_how_to_do_without(setting: SlowSetting) -> None:
    assert setting.does.split()[0].endswith("s")
    assert not setting.does.endswith(".")
    assert setting.leave[0].isupper()
    assert setting.leave.endswith(".")


def test_all_are_measured_that_need_no_gpu() -> None:
    by_the_fit = {"keras_run_eagerly"}  # as functions that run eagerly
    assert {*measured._SWITCHES} == {*SLOW_SETTINGS} - {LAUNCH_BLOCKING} - by_the_fit

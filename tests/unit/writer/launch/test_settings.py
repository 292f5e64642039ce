"""What `tbslow run` was asked for comes through the environment, and stays nowhere."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.launch.settings import Settings, take_from


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings("/tmp/a b", "a b", "train_step", profile=True, quiet=True),
        Settings("gs://bucket/run", "gs://bucket/run", "fit"),
        Settings("/tmp/run", quiet=True, experiment="prefetch", steps=200),
        Settings("/tmp/run", experiment="xla", guarded="/a:/b", allowed="/a/c"),
    ],
)
def test_settings_come_back_as_they_went(settings: Settings) -> None:
    environment = {"HOME": "/root", **settings.to_environment()}
    assert all(isinstance(value, str) for value in environment.values())
    assert vars(take_from(environment)) == vars(settings)
    assert environment == {"HOME": "/root"}


def test_without_variables_all_is_at_its_default() -> None:
    assert vars(take_from({})) == vars(Settings())

<<<<<<< HEAD
"""What `tbslow run` was asked for comes through the environment, and stays nowhere."""
=======
"""Settings survive their way through the environment, and leave nothing in it."""
>>>>>>> 02c5fa8 (tests: each part of tbslow run; run: one line where there is no step)

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.launch.settings import Settings, take_from


@pytest.mark.parametrize(
    "settings",
    [
<<<<<<< HEAD
        Settings(),
        Settings("/tmp/a b", "a b", "train_step", profile=True, quiet=True),
        Settings("gs://bucket/run", "gs://bucket/run", "fit"),
    ],
)
def test_settings_come_back_as_they_went(settings: Settings) -> None:
    environment = {"HOME": "/root", **settings.to_environment()}
    assert all(isinstance(value, str) for value in environment.values())
    assert vars(take_from(environment)) == vars(settings)
    assert environment == {"HOME": "/root"}


def test_without_variables_all_is_at_its_default() -> None:
    assert vars(take_from({})) == vars(Settings())
=======
        Settings("/tmp/a", "a"),
        Settings("gs://bucket/a b", "gs://bucket/a b", "train_step", profile=True, quiet=True),
    ],
)
def test_what_is_sent_is_what_arrives(settings: Settings) -> None:
    environment = {"PATH": "/bin", **settings.to_environment()}
    assert vars(take_from(environment)) == vars(settings)
    assert environment == {"PATH": "/bin"}
>>>>>>> 02c5fa8 (tests: each part of tbslow run; run: one line where there is no step)

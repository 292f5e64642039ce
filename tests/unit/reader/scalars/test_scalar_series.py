"""What tags mean, which writers belong together, and whose points are the steps."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.reader.scalars.scalar_series import (
    ScalarSeries,
    choose_listed,
    choose_pace,
    group_writers,
    meaning_of,
)


@pytest.mark.parametrize(
    ("tag", "meaning"),
    [
        ("train/loss", "training"),
        ("Loss/val", "evaluation"),
        ("evaluation_loss_vs_iterations", "evaluation"),
        ("latest_model", "training"),
        ("learning_rate", "training"),
        ("steps_per_second", "rate"),
        ("global_step/sec", "rate"),
        ("iterations_per_sec", "rate"),
        ("seconds_per_step", "step_seconds"),
        ("step_time", "step_seconds"),
        ("examples/sec", "other_pace"),
        ("tokens_per_second", "other_pace"),
        ("time/fps", "other_pace"),
        ("time/iterations", "other_pace"),
        ("trainer/global_step", "training"),
    ],
)
def test_a_tag_means_what_its_words_say(tag: str, meaning: str) -> None:
    assert meaning_of(tag) == meaning


def test_the_writers_of_a_run_are_grouped() -> None:
    writers = [".", "a/train", "a/validation", "b", "b/loss_train", "c/x/train", "train_v2"]
    assert group_writers(writers) == {
        ".": ".",
        "a/train": "a",
        "a/validation": "a",
        "b": "b",
        "b/loss_train": "b",
        "c/x/train": "c/x",
        "train_v2": "train_v2",
    }
    assert group_writers(["train", "validation"]) == {"train": ".", "validation": "."}


def series(points: int, tag: str, writer: str = "run") -> ScalarSeries:
    step = np.arange(points)
    return ScalarSeries(writer, tag, step, 1.0 * step, np.ones(points))


def test_results_are_not_the_pace_of_training() -> None:
    pace = choose_pace([series(50, "loss", "run/eval"), series(10, "loss"), series(1, "final")])
    assert pace is not None
    assert (pace.writer, len(pace)) == ("run", 10)
    assert choose_pace([series(1, "loss")]) is None


def test_where_there_is_nothing_else_results_are_the_pace() -> None:
    pace = choose_pace([series(50, "val_loss"), series(60, "steps_per_sec")])
    assert pace is not None
    assert pace.tag == "steps_per_sec"
    pace = choose_pace([series(50, "val_loss")])
    assert pace is not None
    assert pace.tag == "val_loss"


def test_of_as_many_points_a_loss_counts() -> None:
    pace = choose_pace([series(50, "accuracy"), series(50, "loss"), series(50, "epoch_loss")])
    assert pace is not None
    assert pace.tag == "loss"


def test_the_list_follows_what_training_wrote_last() -> None:
    tags = {"a/train": {"warm": 5.0, "loss": 9.0}, "a/validation": {"loss": 12.0}}
    assert choose_listed(tags) == ("a/train", "loss")

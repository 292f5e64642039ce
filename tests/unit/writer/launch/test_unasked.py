"""The monitor that nobody asked for: it waits for steps, and gives way."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf
from integration.written import chunks

import tbslow
from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN, STEP_RULE
from tb_slowdown_plugin.collectors.hooks.method_hooks import replaced
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.launch import unasked
from tb_slowdown_plugin.writer.launch.settings import Settings
from tb_slowdown_plugin.writer.launch.training.training_calls import TrainingCalls
from tb_slowdown_plugin.writer.launch.unasked import Unasked

pytestmark = pytest.mark.tensorflow

weight = tf.Variable(1.0)


@tf.function
def train_step(x):
    weight.assign_sub(x)


@tf.function
def test_step(x):
    return weight * x


test_step.__test__ = False


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    monitor.stop()


def begin(logdir: Path, step: str = "") -> Unasked:
    unasked.begin(Settings(str(logdir), logdir.name, step))
    begun = unasked.begun()
    assert begun is not None
    return begun


DOCS = Path(__file__).parents[4] / "docs" / "hooks.md"


def test_the_table_in_the_docs_is_what_is_hooked(tmp_path: Path) -> None:
    _, _, section = DOCS.read_text(encoding="utf-8").partition("## Under `tbslow run`")
    documented = re.findall(r"(?m)^\| `([\w.]+)` \| .+ \|$", section)
    begin(tmp_path / "logs")
    assert sorted(documented) == [each.place for each in replaced() if each.by == "tbslow run"]


def facts(logdir: Path) -> list[Fact]:
    return [
        event.what
        for chunk in chunks(logdir)
        for event in chunk.events
        if isinstance(event.what, Fact) and event.what.name in (STEP_RULE, STEP_NOT_CHOSEN)
    ]


def test_steps_are_found_and_the_rule_is_in_the_record(tmp_path: Path) -> None:
    begun = begin(tmp_path / "logs")
    for _ in range(10):
        train_step(tf.constant(0.1))
    test_step(tf.constant(1.0))
    tbslow.stop()
    assert sum(len(chunk.steps) for chunk in chunks(tmp_path)) == 10
    rule, other = facts(tmp_path)
    assert (rule.name, other.name) == (STEP_RULE, STEP_NOT_CHOSEN)
    assert rule.subject.startswith("one call of train_step (")
    assert other.subject.startswith("test_step (")
    assert other.numbers["calls"] == 1.0
    assert 0 < other.numbers["seconds"] < 10
    assert begun.reason == ""


def test_without_a_step_nothing_is_written_and_the_reason_is_known(tmp_path: Path) -> None:
    begun = begin(tmp_path / "logs")
    test_step(tf.constant(1.0))
    tbslow.stop()
    assert list(tmp_path.iterdir()) == []
    assert begun.reason == "no function or optimizer was seen to change a trainable variable"
    assert begin(tmp_path / "logs", "fit").reason == "there was no step by the rule --step fit"
    tbslow.stop()
    misspelt = begin(tmp_path / "logs", "trian_step")
    test_step(tf.constant(1.0))
    assert re.fullmatch(
        r"there was no step by the rule --step trian_step "
        r"\(the program called test_step \(.*test_unasked\.py:\d+\)\)",
        misspelt.reason,
    )


def test_a_program_that_starts_a_monitor_is_in_charge(tmp_path: Path) -> None:
    begin(tmp_path / "ours")
    with tbslow.start(tmp_path / "own"):
        for _ in range(3):
            with tbslow.summary.step():
                train_step(tf.constant(0.1))
                train_step(tf.constant(0.1))
    assert monitor.last_logdir() == str(tmp_path / "own")
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    assert sum(len(chunk.steps) for chunk in chunks(tmp_path)) == 3
    assert facts(tmp_path) == []


def test_steps_that_a_program_marks_have_nowhere_to_go_as_without_us(tmp_path: Path) -> None:
    begin(tmp_path / "ours")
    with pytest.raises(tbslow.UsageError, match="nowhere to write to"), tbslow.summary.step():
        pass


def test_where_a_monitor_runs_none_is_begun(tmp_path: Path) -> None:
    with tbslow.start(tmp_path / "own"):
        unasked.begin(Settings(str(tmp_path / "ours"), "ours"))
        assert unasked.begun() is None


def test_batches_of_a_dataset_can_be_steps(tmp_path: Path) -> None:
    begin(tmp_path / "logs", "dataset")
    for _ in range(2):
        for batch in tf.data.Dataset.range(12).batch(2):
            weight.assign_sub(float(batch[0]))
    tbslow.stop()
    assert sum(len(chunk.steps) for chunk in chunks(tmp_path)) == 12
    assert [fact.subject for fact in facts(tmp_path)] == ["one batch of a dataset"]


def test_each_fit_is_followed(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    begin(tmp_path / "logs")
    for _ in range(2):
        model.fit(tf.zeros((16, 2)), tf.zeros((16, 1)), batch_size=4, epochs=2, verbose=0)
    raising = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(
            tf.zeros((16, 2)), tf.zeros((16, 1)), batch_size=4, verbose=0, callbacks=[raising]
        )
    for _ in range(5):
        train_step(tf.constant(0.1))
    tbslow.stop()
    kinds = [chunk.steps.kinds[kind] for chunk in chunks(tmp_path) for kind in chunk.steps.kind]
    assert len(kinds) == 16 + 4 + 5
    assert [fact.subject.partition(" (")[0] for fact in facts(tmp_path)] == [
        "one batch of fit",
        "one batch of fit",  # in another line
        "one call of train_step",
    ]


def test_after_its_end_no_hook_is_left(tmp_path: Path) -> None:
    before = replaced()
    begin(tmp_path / "logs")
    assert {each.by for each in replaced()} >= {"tbslow run", "tracing"}
    train_step(tf.constant(0.1))
    tbslow.stop()
    assert [each for each in replaced() if each.by == "tbslow run"] == []
    assert len(replaced()) <= len(before) + 1  # op determinism stays


def test_where_a_hook_fails_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ImportError("no such module")

    before = replaced()
    monkeypatch.setattr(TrainingCalls, "install", fail)
    unasked.begin(Settings(str(tmp_path / "logs"), "logs"))
    assert unasked.begun() is None
    assert monitor.active() is None
    assert len(replaced()) <= len(before) + 1  # op determinism stays
    assert not (tmp_path / "logs").exists()


def test_a_rule_that_no_call_fits_is_doubted_once_and_early(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begin(tmp_path / "logs", "trian_step")
    for number in range(150):
        train_step(tf.constant(0.1))
        assert ("nothing is recorded so far" in caplog.text) == (number >= 99)
    tbslow.stop()
    (said,) = caplog.messages
    assert said.startswith(
        "slowdown monitor: there was no step by the rule --step trian_step (the program called "
        "train_step ("
    )


def test_the_collector_of_garbage_is_on_as_it_was(tmp_path: Path) -> None:
    import gc

    assert gc.isenabled()
    begin(tmp_path / "logs")
    assert gc.isenabled()
    assert "tensorflow" in sys.modules

"""A callback that only looks at batches does so less often."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.causes.saving import callbacks_fixes
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Fact

TEXT = """\
class Norms(Callback):
    def on_train_batch_end(self, {arguments}):
        {body}

model.fit(data, callbacks=[Norms()])
"""


def program(
    folder: Path, body: str = "self.norms.append(norm(self.model))", arguments: str = "n, logs=None"
) -> Program:
    made = Program(folder, TEXT.format(body=body, arguments=arguments), "callbacks")
    calls = callbacks_fixes.Calls(names.CALLBACK, "Norms", at_every_step=True, run_steps=5000)
    made.advice = (callbacks_fixes.every_nth(calls),)
    return made.saw(Fact("input_at", f"train.py:{made.line('model.fit')}"))


def test_it_returns_at_once_in_most_batches(tmp_path: Path) -> None:
    made = program(tmp_path, "log(logs)  # ä\n        self.norms.append(1)")
    assert made.changed() == ["if n % 100:", "return"]
    assert "logs=None):\n        if n % 100:\n            return\n        log(logs)  # ä\n" in (
        made.patched()
    )


@pytest.mark.parametrize(
    "body",
    [
        "self.seen += 1",
        "self.last = logs['loss']",
        "self.model.stop_training = True",
        "self.sums[0] += logs['loss']",
        "self.model.optimizer.learning_rate.assign(0.1)",
        "super().on_train_batch_end(n, logs)",
        '"""Looks."""\n        log(logs)',
        "if n: self.last = 1",
    ],
)
def test_one_that_does_more_than_look_stays(tmp_path: Path, body: str) -> None:
    assert program(tmp_path, body).refusals()


def test_one_without_a_number_of_the_batch_stays(tmp_path: Path) -> None:
    assert program(tmp_path, arguments="*given").refusals()


def test_one_that_is_elsewhere_stays(tmp_path: Path) -> None:
    made = program(tmp_path)
    made.text = made.text.replace("class Norms", "class Other")
    made.path.write_text(made.text)
    assert "doesn't have one class `Norms`" in made.refusals()

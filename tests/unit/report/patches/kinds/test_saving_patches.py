"""Numbers of managers and callbacks change, where they are written in their constructors."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.causes.common import fixes
from tb_slowdown_plugin.analysis.causes.common.programs.program import Board
from tb_slowdown_plugin.analysis.causes.saving import checkpointing_fixes
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact

MANAGER = """\
{made}
for x in data:
    step(x)
    manager.save()
{rest}
"""


def keeping(folder: Path, made: str, rest: str = "") -> Program:
    program = Program(folder, MANAGER.format(made=made, rest=rest), "checkpointing")
    program.place = Place("train.py", program.line("manager.save()"), "")
    program.advice = (fixes.keep_few(),)
    return program


@pytest.mark.parametrize(
    ("made", "patched"),
    [
        (
            "manager = tf.train.CheckpointManager(c, 'ä', max_to_keep=None)  # all",
            "manager = tf.train.CheckpointManager(c, 'ä', max_to_keep=3)  # all",
        ),
        (
            "manager = tf.train.CheckpointManager(c, d, None)",
            "manager = tf.train.CheckpointManager(c, d, 3)",
        ),
    ],
)
def test_a_manager_keeps_few(tmp_path: Path, made: str, patched: str) -> None:
    assert keeping(tmp_path, made).changed() == [f"-{made}", patched]


@pytest.mark.parametrize(
    ("made", "rest"),
    [
        ("manager = tf.train.CheckpointManager(c, d, max_to_keep=n)", ""),
        ("manager = tf.train.CheckpointManager(c, d, max_to_keep=5)", ""),
        ("manager = tf.train.CheckpointManager(c, d)", ""),
        ("manager = tf.train.CheckpointManager(c, **options)", ""),
        ("other = tf.train.CheckpointManager(c, d, max_to_keep=None)", ""),
        ("manager = tf.train.CheckpointManager(c, d, None)", "use(manager.checkpoints)"),
        ("manager = make(tf.train.CheckpointManager(c, d, None))", ""),
    ],
)
def test_a_manager_whose_checkpoints_may_be_needed_stays(
    tmp_path: Path, made: str, rest: str
) -> None:
    assert keeping(tmp_path, made, rest).refusals()


def fitting(folder: Path, made: str, cause: str) -> Program:
    program = Program(folder, f"{made}\nmodel.fit(data)\n", cause)
    return program.saw(Fact("input_at", f"train.py:{program.line('model.fit')}"))


@pytest.mark.parametrize(
    ("given", "patched"),
    [
        ("histogram_freq=1, update_freq='batch'", 'histogram_freq=0, update_freq="epoch"'),
        ("update_freq=1", 'update_freq="epoch"'),
        ("profile_batch=(10, 100), histogram_freq=0", "profile_batch=0, histogram_freq=0"),
        ("histogram_freq=often", None),
        ("write_graph=True", None),
        ("**options", None),
    ],
)
def test_tensorboard_writes_less(tmp_path: Path, given: str, patched: str | None) -> None:
    made = f"board = TensorBoard('logs', {given})  # ß"
    program = fitting(tmp_path, made, "callbacks")
    program.advice = (fixes.quiet_tensorboard(Board()),)
    if patched is None:
        assert program.refusals()
    else:
        assert program.changed() == [f"-{made}", f"board = TensorBoard('logs', {patched})  # ß"]


@pytest.mark.parametrize(
    ("given", "is_certain"),
    [("save_freq=20", True), ("save_freq='epoch'", False), ("save_freq=5000", False), ("", False)],
)
def test_a_model_is_saved_less_often(tmp_path: Path, given: str, is_certain: bool) -> None:
    made = f"saver = ModelCheckpoint(path, {given})"
    program = fitting(tmp_path, made, "checkpointing")
    saving = checkpointing_fixes.Saving(
        "ModelCheckpoint", every_steps=20, seconds=0.05, step_seconds=0.008
    )
    program.advice = (checkpointing_fixes.save_less_often(saving),)
    if is_certain:
        assert program.changed() == [f"-{made}", "saver = ModelCheckpoint(path, save_freq=1000)"]
    else:
        assert program.refusals()


def test_two_callbacks_of_a_kind_stay(tmp_path: Path) -> None:
    made = "a = [TensorBoard('a', histogram_freq=1), TensorBoard('b', histogram_freq=1)]"
    program = fitting(tmp_path, made, "callbacks")
    program.advice = (fixes.quiet_tensorboard(Board()),)
    assert "doesn't create exactly one `TensorBoard`" in program.refusals()

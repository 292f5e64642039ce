"""Saving, callbacks, disks, and Python: for each advice what it is offered for, and what not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advice_cases.evidence import (
    MATPLOTLIB,
    QUIET,
    SAVES,
    SUMMARIES,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Board
from tb_slowdown_plugin.analysis.causes.machine.python_overhead_fixes import PythonGrowth
from tb_slowdown_plugin.analysis.causes.memory.garbage_collection_fixes import (
    Collections,
)
from tb_slowdown_plugin.analysis.causes.saving.callbacks_fixes import Calls
from tb_slowdown_plugin.analysis.causes.saving.checkpointing_fixes import Saving
from tb_slowdown_plugin.analysis.causes.saving.disk_fixes import Writing

CASES: dict[str, tuple[Any, Any]] = {
    "checkpointing_fixes.keep_few": (
        Saving("CheckpointManager", grows=True),
        Saving("CheckpointManager", grows=True, keeps_few=True),
    ),
    "checkpointing_fixes.back_up_less_often": (
        Saving("BackupAndRestore", every_steps=20, run_steps=600),
        Saving("BackupAndRestore", every_steps=400, run_steps=600),
    ),
    "checkpointing_fixes.save_less_often": (
        Saving("ModelCheckpoint", every_steps=100, run_steps=600),
        Saving("ModelCheckpoint", every_steps=300, run_steps=600),
    ),
    "checkpointing_fixes.weights_only": (Saving("ModelCheckpoint"), Saving("BackupAndRestore")),
    "checkpointing_fixes.save_by_the_clock": (Saving("model.save"), Saving("ModelCheckpoint")),
    "checkpointing_fixes.save_by_the_clock_in_callback": (
        Saving("model.save", in_callback=True),
        Saving("model.save"),
    ),
    "checkpointing_fixes.weights_of_model": (Saving("model.save"), Saving("model.save_weights")),
    "checkpointing_fixes.write_meanwhile": (Saving("CheckpointManager"), Saving("tf.saved_model")),
    "checkpointing_fixes.manage": (Saving("tf.train.Checkpoint"), Saving("CheckpointManager")),
    "callbacks_fixes.quiet_board": (
        Calls("summary", "TensorBoard", board=Board(batches=False)),
        Calls("summary", "TensorBoard", board=QUIET),
    ),
    "callbacks_fixes.fewer_calls": (
        Calls("summary", "TensorBoard", at_every_step=True),
        Calls("summary", "TensorBoard", at_every_step=True, batches_a_call=1),
    ),
    "callbacks_fixes.summaries_less_often": (
        Calls("summary", run_steps=600),
        Calls("summary", every_steps=250, run_steps=600),
    ),
    "callbacks_fixes.fewer_validations": (
        Calls("validation", epochs=10),
        Calls("validation", epochs=10, in_fit=False),
    ),
    "callbacks_fixes.shorter_validations": (
        Calls("validation", in_fit=False),
        Calls("validation"),
    ),
    "callbacks_fixes.one_line_an_epoch": (
        Calls("callback", "ProgbarLogger"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.running_value": (
        Calls("callback", "Mine", grows=True),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.call_the_model": (
        Calls("callback", "Mine", calls="predict"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.predict_on_batch": (
        Calls("callback", "Mine", calls="predict"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.larger_batches": (
        Calls("callback", "Mine", calls_on_short_batches="predict"),
        Calls("callback", "Mine", calls="predict"),
    ),
    "callbacks_fixes.every_nth": (
        Calls("callback", "Mine", run_steps=600),
        Calls("callback", "Mine", every_steps=250, run_steps=600),
    ),
    "callbacks_fixes.nothing_twice": (
        Calls("callback", "Mine", grows=True, at_epochs=True),
        Calls("callback", "Mine", grows=True),
    ),
    "callbacks_fixes.every_fifth_epoch": (
        Calls("callback", "Mine", at_epochs=True, epochs=20),
        Calls("callback", "Mine", at_epochs=True, epochs=3),
    ),
    "callbacks_fixes.shorten": (
        Calls("callback", "Mine", every_steps=250, run_steps=600),
        Calls("callback", "Mine", run_steps=600),
    ),
    "disk_fixes.append": (Writing(SAVES, grows=True), Writing(SAVES)),
    "disk_fixes.local_disk": (Writing(SAVES), Writing(SUMMARIES)),
    "disk_fixes.keep_few": (
        Writing(SAVES),
        Writing(replace(SAVES, keeps_few=True)),
    ),
    "disk_fixes.fewer_summaries": (Writing(SUMMARIES), Writing(SAVES)),
    "disk_fixes.delete_old_checkpoints": (Writing(SAVES, full=True), Writing(SAVES)),
    "disk_fixes.delete_temporary_files": (Writing(SUMMARIES, full=True), Writing(SUMMARIES)),
    "garbage_collection_fixes.remove_the_call": (
        Collections(("train.py:9",), periodic=True),
        Collections(periodic=True),
    ),
    "garbage_collection_fixes.clear_less_often": (
        Collections(sessions=("train.py:9",)),
        Collections(("train.py:9",)),
    ),
    "garbage_collection_fixes.look_for_the_call": (
        Collections(periodic=True),
        Collections(("train.py:9",), periodic=True),
    ),
    "garbage_collection_fixes.freeze": (Collections(), Collections(("train.py:9",))),
    "garbage_collection_fixes.schedule": (Collections(), Collections(("train.py:9",))),
    "garbage_collection_fixes.keep_less": (Collections(), Collections(("train.py:9",))),
    "python_overhead_fixes.close_plots": (
        PythonGrowth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
        PythonGrowth(place="sample (agent.py:88)"),
    ),
    "python_overhead_fixes.look_there": (
        PythonGrowth(place="sample (agent.py:88)"),
        PythonGrowth(),
    ),
    "python_overhead_fixes.running_sum": (
        PythonGrowth(),
        PythonGrowth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.bound_the_buffer": (
        PythonGrowth(),
        PythonGrowth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.array_once": (
        PythonGrowth(place="push (replay.py:3)", libraries=frozenset({"numpy"})),
        PythonGrowth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.compile_step": (PythonGrowth(eager=True), PythonGrowth()),
}

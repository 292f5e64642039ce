"""Snippets: lines to add, to replace, and around them."""

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    as_example,
    callable_name,
    fewer_summaries,
    new,
    old,
    quiet_tensorboard,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Board
from tb_slowdown_plugin.records.types import Trace


def test_a_snippet_marks_what_changes():
    code = snippet(same("for x in ds:"), old("    slow(x)"), new("    fast(x)"))
    assert code == "  for x in ds:\n-     slow(x)\n+     fast(x)"


def test_an_example_has_nothing_to_remove():
    code = snippet(old("    slow(x)"), new("    fast(x)"))
    assert as_example(code) == [(" ", "    # before: slow(x)"), ("+", "    fast(x)")]


def test_a_board_is_told_only_of_what_is_on():
    fix = quiet_tensorboard(Board(histograms=True, batches=False, profiles=False))
    assert fix.text == "Write less to TensorBoard: no histograms."
    assert "histogram_freq=0" in fix.code
    assert "profile_batch" not in fix.code


def test_the_number_of_steps_is_in_text_and_code():
    fix = fewer_summaries(1_000)
    assert fix.text.startswith("Write summaries every 1,000 steps")
    assert "if step % 1000 == 0:" in fix.code


def test_code_calls_a_function_by_a_name_that_it_can_have():
    def name(function):
        return callable_name(Trace(1, function, "", 0.1, 0.1, "first", 1))

    assert [name("Trainer.step"), name("train"), name("<lambda>")] == ["step", "train", "step"]

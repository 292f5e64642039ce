"""Programs that were recorded on an H200: the answers were written down before they ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "gpu_programs" / "recordings"
SOURCES = (
    ROOT / "tests" / "gpu_programs" / "programs",
    ROOT / "benchmarks" / "accuracy" / "tune" / "programs",
)
CAUSE = {
    "d_input_python": ("input_pipeline", ""),
    "e_device_full": ("gpu_memory", ""),
    "f_history_on_device": ("tensor_retention", "states.append(h)"),
    "g_beta_number": ("retracing", "def update("),
    "h_back_and_forth": ("python_overhead", "h.mean()"),
    "i_eager_penalty": ("python_overhead", "tf.reduce_sum(tf.abs(w))"),
    "j_frozen_backbone": ("backward_pass", "tape.gradient(loss, ws)"),
    "dqn_grid": ("retracing", "self.model.predict("),
    "seq2seq_teacher": ("retracing", "def train_on("),
    "shuffle_whole_set": ("input_pipeline", "def window("),
    "autoencoder_stop": ("xla_compilation", "autoencoder.fit("),
}
"""Recording -> its first cause but warm-up, and what is in the line of its place; "" where none is
named, or, of `d_input_python`, that of the `fit`: its stages were sampled once."""
HEALTHY = (
    "a_convnet_fit",
    "b_loop_async",
    "c_loop_sync",
    "c_cuda_malloc_async",
    "k_captured_fit",
    "dqn_warm_buffer",
    "td3_cart",
    "wgan_critics",
)
LOST_SECONDS = {"e_device_full": 8.05}
"""Of these the program itself has measured what it lost."""


def report_on(name: str) -> Report:
    (run,) = read_runs(str(RECORDINGS / name), warn=print)
    return account_for(run).report


def line_of(cause: Cause) -> str:
    """The line of a cause's place, as it is in the program."""
    assert cause.place is not None
    (source,) = [found for found in (each / cause.place.file for each in SOURCES) if found.exists()]
    return source.read_text().splitlines()[cause.place.line - 1]


def test_each_recording_has_its_answer() -> None:
    assert {path.name for path in RECORDINGS.iterdir()} == {*CAUSE, *HEALTHY}


@pytest.mark.parametrize("name", CAUSE)
def test_a_defect_on_a_gpu_is_named_with_its_line(name: str) -> None:
    report = report_on(name)
    named = [cause for cause in report.causes if cause.cause != "warm_up"]
    cause, line = CAUSE[name]
    assert named[0].cause == cause, report.headline
    assert not line or line in line_of(named[0])
    if name in LOST_SECONDS:
        assert named[0].lost_seconds == pytest.approx(LOST_SECONDS[name], rel=0.1)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_on_a_gpu_is_left_alone(name: str) -> None:
    report = report_on(name)
    assert {cause.cause for cause in report.causes} <= {"warm_up"}, report.headline
    assert report.judged == "whole"


def test_a_slow_start_by_xla_that_keras_has_turned_on_says_how_to_leave_it_off() -> None:
    """16.5 s of the 24 s of a `fit`."""
    (start,) = report_on("a_convnet_fit").causes
    assert [each.text.partition(":")[0] for each in start.advice] == [
        "Leave it as it is in a long run",
        "Leave XLA off for this model",
    ]


def test_the_memory_of_the_device_is_told_with_its_limit() -> None:
    evidence = report_on("e_device_full").causes[0].evidence
    assert evidence[0] == (
        "TensorFlow's allocator had 130 MiB of 1 GiB in use at step 22 and up to 962 MiB (93.9%) "
        "at step 201."
    )


def test_a_jump_to_a_hundredfold_is_no_growth() -> None:
    """Steps of 3 ms take 0.6 s from step 300 on, by NumPy on 268 MB."""
    (cause,) = [each for each in report_on("h_back_and_forth").causes if each.cause != "warm_up"]
    assert cause.summary == "The training thread uses more CPU in each step since step 300."


def test_a_gpu_is_asked_for_its_state() -> None:
    (run,) = read_runs(str(RECORDINGS / "f_history_on_device"), warn=print)
    values = run.signals.values
    assert values["gpu_memory_total_bytes:GPU:0"][-1] == 143_771 << 20
    assert len(values["allocator_in_use_bytes:GPU:0"]) > 20
    assert 30 < values["gpu_temperature_celsius:GPU:0"].max() < 80
    assert not values["gpu_thermal_slowdown:GPU:0"].any()

"""The advice of a report is a diff of the reader's own lines, where their file is at hand."""

from __future__ import annotations

from pathlib import Path

from unit.report.patches import defects
from unit.report.patches.defects import Program

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.records.types import Change, Fact, Trace
from tb_slowdown_plugin.report.patches.advice import with_patches

TEXT = "import gc\n\nfor x in data:\n    step(x)\n    gc.collect()\n    use(x)\n    log(x)\n"
TEXT += "    end()\n"


def collecting(folder: Path) -> tuple[Program, Report]:
    made = Program(folder, TEXT, "garbage_collection")
    made.saw(Fact("gc_forced", "train.py:5", {"calls": 9.0}))
    advice = (Advice("Remove it."), Advice("Freeze objects."))
    return made, defects._report(made.cause, None, advice)


def test_a_patch_stands_for_the_first_example(tmp_path: Path) -> None:
    made, report = collecting(tmp_path)
    (cause,) = with_patches(report, made.run, tmp_path).causes
    assert cause.advice == (
        Advice(
            "Remove `gc.collect()`: Python collects automatically. Results stay the same.",
            "  for x in data:\n      step(x)\n-     gc.collect()\n      use(x)\n      log(x)",
            "If memory then grows, collect once per epoch.",
            "train.py:5",
            "patch",
            (3,),
        ),
        Advice("Freeze objects."),
    )


def test_a_patch_of_a_lesser_function_stands_in_the_place_of_its_example(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n\n@tf.function\ndef metric(k):\n    return k * 2.0\n"
        "@tf.function\ndef step(x, rate):\n    return x * rate\n"
        "for i in range(9):\n    step(*given)\n    metric(float(i))\n"
    )
    made = Program(tmp_path, text, "retracing")
    for function, line, argument, at in (("step", 7, "rate", 10), ("metric", 4, "k", 11)):
        change = Change(argument, "python_number", "Python float 1.0", "2.0")
        for number in range(3):
            made.saw(
                Trace(
                    number,
                    function,
                    f"train.py:{line}",
                    0.3,
                    0.2,
                    "signature",
                    2,
                    changes=(change,),
                )
            )
        made.saw(Fact("called_at", f"{function} (train.py:{line}) at train.py:{at}"))
    examples = tuple(
        Advice(text) for text in ("Tensors for `step`.", "A signature.", "Tensors for `metric`.")
    )
    report = defects._report(made.cause, Place("train.py", 7, "step"), examples)
    (cause,) = with_patches(report, made.run, tmp_path).causes
    assert [each.text for each in cause.advice] == [
        "Tensors for `step`.",
        "A signature.",
        "Pass `k` of `metric` as a tensor: its value is then no part of the trace. "
        "Results stay the same except for rounding.",
    ]


def test_the_report_stays_where_the_file_is_not_at_hand(tmp_path: Path) -> None:
    made, report = collecting(tmp_path)
    assert with_patches(report, made.run, tmp_path / "elsewhere") == report
    assert with_patches(report, made.run, tmp_path.parent) == report
    made.recorded = made.run
    made.path.write_text(f"{TEXT}more()\n")
    assert with_patches(report, made.recorded, tmp_path) == report
    made.path.write_text(TEXT.replace("gc.collect()", "gc.collect(1)"))
    assert with_patches(report, made.recorded, tmp_path) == report


def test_a_file_is_read_only_below_the_directory_and_if_it_is_small(tmp_path: Path) -> None:
    made, report = collecting(tmp_path)
    run = made.run
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "train.py").rename(tmp_path / "other.py")
    made.name = "../other.py"
    made.events[0] = Fact("gc_forced", "../other.py:5", {"calls": 9.0})
    assert with_patches(report, made.run, inside) == report
    (tmp_path / "train.py").write_text(TEXT + "#" * 2**21)
    assert with_patches(report, run, tmp_path) == report


def test_places_of_one_patch_that_lie_apart_are_told_apart(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n\ndata = tf.data.Dataset.range(9)\ndata = data.map(f)\n"
        + "a = 1\n" * 9
        + "def f(x):\n    return x\ndata = data.map(f).batch(3)\nfor x in data:\n    step(x)\n"
    )
    made = Program(tmp_path, text, "input_pipeline")
    line = made.line("for x in")
    examples = (pipeline_stages.prefetch(), pipeline_stages.parallel_map())
    report = defects._report(made.cause, Place("train.py", line, ""), examples)
    made.saw(Fact("input_pipeline", "Range Map Map Batch"), Fact("input_at", f"train.py:{line}"))
    prefetch, parallel = with_patches(report, made.run, tmp_path).causes[0].advice
    assert (prefetch.kind, parallel.kind) == ("patch", "patch")
    assert "+ data = data.map(f).batch(3).prefetch(tf.data.AUTOTUNE)" in prefetch.code
    assert parallel.code.count("num_parallel_calls=tf.data.AUTOTUNE") == 2
    assert "\n  ...\n" in parallel.code
    assert (prefetch.lines, parallel.lines) == ((14,), (2, 14))

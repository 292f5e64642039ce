"""What the record says of a pipeline that is waited for: stages, cache, reading."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP

from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.records.types import Fact


def waits_from_300(make_run, find, judge, events=(), signals=None, rows=None):
    wait = np.where(np.arange(SIZE) < 300, 0.0004, 0.030)
    run = make_run(
        STEP + wait,
        accounts={"input_wait": wait},
        events=events,
        signals=signals,
        signal_rows=rows,
    )
    lost = np.where(np.arange(SIZE) < 300, 0.0, wait)
    (cause,) = judge(run, find("input_wait", "level_shift", lost)).report.causes
    return cause


def stage(name, seconds, share=0.93):
    return Fact("input_stage", name, {"seconds_per_element": seconds, "share": share})


def test_the_slow_stage_is_named(make_run, find, judge):
    events = [(40, stage("Map#3", 0.0003)), (320, stage("Map#3", 0.0101))]
    cause = waits_from_300(make_run, find, judge, events)

    assert cause.evidence[-1] == (
        "The slowest stage, by tf.data's own model, is `Map` (number 2 from the end of the "
        "optimized pipeline): 10.1 ms per element, 93.0% of the time in all stages, up to step "
        "320; at first it took 0.3 ms."
    )
    assert cause.advice[0].text.startswith(
        "Run the slow stage `Map` (number 2 from the end of the optimized pipeline) in parallel"
    )
    assert not any(each.text.startswith("Read several") for each in cause.advice)


@pytest.mark.parametrize(("kept", "line"), [(0.3, 87), (0.6, 65)])
def test_of_a_filter_behind_the_work_the_line_is_its_own_where_most_is_in_vain(
    make_run, find, judge, kept, line
):
    told = [
        Fact("input_pipeline", "TensorSlice ParallelMap Filter Map Batch", {}),
        Fact("input_function", "pair (data.py:88)", {}),
        Fact("input_function", "keep (data.py:87)", {}),
        Fact("input_function", "deform (data.py:65)", {}),
        stage("ParallelMapV2#4", 0.002, 0.8),
        Fact("input_filtered", "Filter#3", {"kept": kept, "share": 0.8}),
    ]
    cause = waits_from_300(make_run, find, judge, [(40, fact) for fact in told])
    assert cause.place is not None
    assert cause.place.line == line
    assert cause.advice[0].text.startswith("Put the `filter` before the stages that compute")


def test_another_stage_is_called_no_map(make_run, find, judge):
    told = [Fact("input_pipeline", "TensorSlice Filter Map Batch", {}), stage("Filter#4", 0.01)]
    cause = waits_from_300(make_run, find, judge, [(40, fact) for fact in told])
    assert any(each.text.startswith("Run each `map` in parallel") for each in cause.advice)
    assert not any("`Filter`" in each.text for each in cause.advice)


def test_a_stage_whose_first_elements_took_longer_is_told_without_them(make_run, find, judge):
    events = [(40, stage("Generator", 0.0005)), (320, stage("Generator", 0.0002))]
    cause = waits_from_300(make_run, find, judge, events)
    assert cause.evidence[-1].endswith("0.2 ms per element, 93.0% of the time in all stages.")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("ShuffleAndRepeat#2", "Make the shuffle buffer smaller"),
        ("TFRecord#5", "Read several files"),
        ("Generator#4", "Load the data without"),
        ("BatchV2#2", "Build batches in parallel"),
    ],
)
def test_each_stage_has_its_fix(make_run, find, judge, name, first):
    cause = waits_from_300(make_run, find, judge, [(320, stage(name, 0.01))])
    assert cause.advice[0].text.startswith(first)


@pytest.mark.parametrize(
    ("stages", "name", "library", "is_advised"),
    [
        ("TensorSlice ParallelMap Batch Prefetch", "ParallelMapV2#4", 0, True),
        ("TensorSlice Batch ParallelMap Prefetch", "ParallelMapV2#3", 0, False),
        ("Range Map Batch ParallelMap", "ParallelMapV2#2", 0, False),
        ("Range Map Batch Map", "ParallelMapV2#4", 0, True),
        ("Range Map Batch Map", "MapAndBatch#3", 0, True),
        ("Tensor Repeat Zip ParallelMap Shuffle Batch Map", "ParallelMapV2#5", 8, False),
    ],
)
def test_batch_first_is_for_a_map_of_the_programs_that_is_before_the_batch(
    make_run, find, judge, stages, name, library, is_advised
):
    known = Fact("input_pipeline", stages, {"library": float(library)} if library else {})
    events = [(0, known), (320, stage(name, 0.01))]
    cause = waits_from_300(make_run, find, judge, events)
    texts = [each.text for each in cause.advice]
    assert any(text.startswith("Process whole batches") for text in texts) is is_advised


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        (
            {"elements (data.py:9)": "generator"},
            ["Python makes the elements, one at a time: `elements (data.py:9)`."],
        ),
        (
            {"load (data.py:20)": "python", "scale (data.py:3)": ""},
            ["`load (data.py:20)` calls Python for each element."],
        ),
        ({"scale (data.py:3)": ""}, ["The elements pass through `scale (data.py:3)`."]),
        ({"scale (data.py:3)": "", "flip (data.py:5)": ""}, []),
    ],
)
def test_the_functions_of_a_pipeline_are_told(make_run, find, judge, functions, told):
    events = [
        (0, Fact("input_function", place, {calls: 1.0} if calls else {}))
        for place, calls in functions.items()
    ]
    cause = waits_from_300(make_run, find, judge, events)
    about = [each for each in cause.evidence if "(data.py:" in each]
    assert about == told
    generator = waits_from_300(make_run, find, judge, [*events, (320, stage("Generator#4", 0.01))])
    python = [place for place, calls in functions.items() if calls]
    assert (generator.place and generator.place.function) == (
        python[0].partition(" ")[0] if python else "scale" if len(functions) == 1 else None
    )
    where = f"in `{python[0]}`" if python else "find the `from_generator` in your input pipeline"
    assert generator.advice[0].where == where


@pytest.mark.parametrize(
    ("slow", "function"),
    [("ParallelMapV2#4", "features"), ("MapAndBatch#3", "shift"), ("ParallelMapV2#9", None)],
)
def test_of_several_functions_that_of_the_slow_stage_is_named(
    make_run, find, judge, slow, function
):
    """Told from the end of the pipeline, and the last `map` is one stage with the `batch`."""
    stages = "TensorSlice Cache Shuffle ParallelMap ParallelMap Batch Prefetch"
    events = [
        (0, Fact("input_pipeline", stages)),
        (0, Fact("input_function", "shift (data.py:51)")),
        (0, Fact("input_function", "features (data.py:38)")),
        (320, stage(slow, 0.01)),
    ]
    place = waits_from_300(make_run, find, judge, events).place
    assert (place and place.function) == function


def test_a_stage_that_is_not_slow_is_not_named(make_run, find, judge):
    cause = waits_from_300(make_run, find, judge, [(320, stage("TensorSlice#6", 1e-6, 0.05))])
    assert not any("slowest stage" in sentence for sentence in cause.evidence)
    assert cause.advice[0].text.startswith("Run the slow stage in parallel")


def test_a_cache_that_never_completes_is_named(make_run, find, judge):
    events = [(350, Fact("cache_unfilled", "", {"passes": 3}))]
    cause = waits_from_300(make_run, find, judge, events)
    assert cause.evidence[-1].startswith(
        "A `cache()` never completes: epoch 3 still recomputed every element."
    )
    assert cause.advice[0].text.startswith("Put `take` before `cache()`")
    assert not any(each.text.startswith("Cache what is the same") for each in cause.advice)


def test_a_cache_that_never_completes_is_told_where_it_costs_too_little(make_run, judge):
    run = make_run(STEP, events=[(350, Fact("cache_unfilled", "", {"passes": 3}))])
    report = judge(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    (note,) = report.notes
    assert note.startswith("A `cache()` never completes: epoch 3 still")


def test_reading_is_told_and_acquitted(make_run, find, judge):
    rows = np.arange(0, SIZE + 1, 50)
    little = {"disk_read_bytes": 1_000.0 * rows}
    cause = waits_from_300(make_run, find, judge, signals=little, rows=rows)
    assert cause.evidence[-1] == (
        "Disk reads aren't the limit: 93.9 KiB/s was read from them before, 24.4 KiB/s since. "
        "Network reads aren't counted."
    )
    assert not any(each.text.startswith("Read several") for each in cause.advice)

    much = {"disk_read_bytes": 1_000_000.0 * rows}
    cause = waits_from_300(make_run, find, judge, signals=much, rows=rows)
    assert cause.evidence[-1] == ("91.7 MiB/s was read from disks before, 23.8 MiB/s since.")
    assert any(each.text.startswith("Read several") for each in cause.advice)


@pytest.mark.parametrize(("workers", "so_far"), [(1, "is one."), (4, "are 4 workers.")])
def test_a_py_dataset_gets_more_workers(cause_of, workers, so_far):
    wait = np.full(SIZE, 0.030)
    events = [(0, Fact("py_dataset", "", {"workers": workers})), (1, stage("Generator#4", 0.02))]
    cause = cause_of("flat", wait, events=events)
    (advice,) = cause.advice
    assert advice.text.endswith(f"So far there {so_far}")
    assert f"workers={max(4, 2 * workers)}" in advice.code


def test_the_place_of_a_py_dataset_is_the_function_that_makes_a_batch(cause_of):
    made = Fact("py_dataset", "Batches.__getitem__ (data.py:12)", {"workers": 1})
    events = [(0, made), (1, stage("Generator#4", 0.02))]
    cause = cause_of("flat", np.full(SIZE, 0.030), events=events)
    assert cause.place == Place("data.py", 12, "Batches.__getitem__")


def test_the_place_of_a_py_dataset_needs_no_model_of_the_stages(cause_of):
    made = Fact("py_dataset", "Batches.__getitem__ (data.py:12)", {"workers": 1})
    cause = cause_of("flat", np.full(SIZE, 0.030), events=[(0, made)])
    assert cause.place == Place("data.py", 12, "Batches.__getitem__")


@pytest.mark.parametrize(
    ("samples", "place"),
    [((15, 6), ("data.py", 31)), ((9, 8, 6), ("data.py", 12)), ((9, 2), ("data.py", 12))],
    ids=["most in one line", "in no line mostly", "few"],
)
def test_the_line_in_which_its_thread_was_seen_is_the_place(cause_of, samples, place):
    made = Fact("py_dataset", "Batches.__getitem__ (data.py:12)", {"workers": 1})
    seen = [
        Fact("input_line", f"read (data.py:{line})", {"samples": n, "of": sum(samples)})
        for line, n in zip((31, 40, 50), samples, strict=False)
    ]
    events = list(enumerate([made, *seen]))
    cause = cause_of("flat", np.full(SIZE, 0.030), events=events)
    assert (cause.place.file, cause.place.line) == place
    told = any("in `read (data.py:31)` in 15 of 21 samples" in each for each in cause.evidence)
    assert told == (place[1] == 31)


def test_a_py_dataset_that_gets_slower_is_looked_at_before_it_gets_workers(cause_of):
    cause = cause_of(
        "drift", np.linspace(0.0, 0.060, SIZE), events=[(0, Fact("py_dataset", "", {"workers": 1}))]
    )
    assert [each.text.split(" ")[0] for each in cause.advice] == ["Look", "Make"]


def test_what_a_strategy_hands_over_is_no_generator_of_the_program(make_run, find, judge):
    """TensorFlow makes a dataset of its own for each device, whose source is a generator."""
    made = Fact("input_pipeline", "ReincarnatedPerDeviceGenerator Prefetch")
    cause = waits_from_300(make_run, find, judge, [(0, made), (320, stage("Generator#3", 0.01))])
    evidence = " ".join(cause.evidence)
    assert "A strategy of `tf.distribute` hands each batch to its devices" in evidence
    assert "slowest stage" not in evidence
    assert not any("generator" in each.text for each in cause.advice)

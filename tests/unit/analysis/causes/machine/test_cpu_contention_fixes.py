"""What helps a process that gets no core, by what is known of its cores and threads."""

import pytest

from tb_slowdown_plugin.analysis.causes.machine.cpu_contention_fixes import (
    Contention,
    Cores,
    advise,
)


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (Contention(Cores()), ("Stop the other jobs", "Make fewer threads")),
        (
            Contention(Cores(8)),
            ("Stop the other jobs", "Leave cores to the other", "Give the input pipeline"),
        ),
        (Contention(Cores(8), feeds=False), ("Stop the other jobs", "Leave cores to the other")),
        (
            Contention(Cores(4, threads=16), feeds=False),
            ("Stop the other jobs", "Make no more threads than there are cores"),
        ),
        (
            Contention(Cores(8, quota=2.5), "quota"),
            (
                "Raise the container's CPU quota",
                "Make no more threads than the quota pays for",
                "Give the input pipeline",
            ),
        ),
        (Contention(Cores(2), "own threads"), ("Look for threads", "Give the input pipeline")),
        (Contention(Cores(8), "slow CPU", feeds=False), ("Stop the other jobs",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts), found
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found


@pytest.mark.parametrize(
    ("cores", "threads", "at_a_time"),
    [(Cores(8), 4, 2), (Cores(2), 1, 1), (Cores(8, operations=1), 4, None)],
)
def test_threads_are_set_to_what_fits(cores, threads, at_a_time):
    _, fewer, *_ = advise(Contention(cores))
    assert f"set_intra_op_parallelism_threads({threads})" in fewer.code
    assert ("set_inter_op_parallelism_threads" in fewer.code) == (at_a_time is not None)
    assert at_a_time is None or f"set_inter_op_parallelism_threads({at_a_time})" in fewer.code

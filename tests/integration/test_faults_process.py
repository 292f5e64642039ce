"""Signals, threads, memory, clocks and shutdown: what happens to a process while it trains."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tensorflow")

from integration.written import chunks, failures, numbers

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = pytest.mark.tensorflow

ENDINGS = {
    "an exception": ("train(50); raise KeyError('theirs')", 1),
    "sys.exit inside a step": ("train(50)\nwith tbslow.summary.step(): sys.exit(3)", 3),
    "interrupted inside a step": (
        "train(50)\nwith tbslow.summary.step(): os.kill(os.getpid(), signal.SIGINT)",
        -signal.SIGINT,
    ),
    "terminated, with a handler": (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); train(50)\n"
        "with tbslow.summary.step(): os.kill(os.getpid(), signal.SIGTERM); time.sleep(1)",
        5,
    ),
    "training in another thread while the main one ends": (
        "threading.Thread(target=train, args=(50, 0.002)).start()",
        0,
    ),
    "stopped by hand, then on": ("train(50); monitor.stop(); monitor.flush(); print('on')", 0),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_however_a_program_ends_each_finished_step_is_written(
    run, tmp_path: Path, ending: str
) -> None:
    body, status = ENDINGS[ending]
    finished = run("monitor = tbslow.start(logdir)\n" + body)
    assert finished.returncode == status, finished.stderr
    assert numbers(tmp_path) == list(range(50))
    assert finished.warnings == []


def test_what_was_flushed_survives_a_signal_that_nobody_handles(run, tmp_path: Path) -> None:
    body = """
    monitor = tbslow.start(logdir)
    train(50)
    monitor.flush()
    train(10)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
    """
    assert run(body).returncode == -signal.SIGTERM
    assert numbers(tmp_path)[:50] == list(range(50))


def test_an_interrupt_leaves_the_monitor_ready_for_the_next_step(run, tmp_path: Path) -> None:
    """As in a notebook: the cell is stopped in the middle of a step, and run again."""
    body = """
    with tbslow.start(logdir):
        for attempt in range(20):
            try:
                with tbslow.summary.step(), tbslow.summary.phase("forward"):
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(1)
            except KeyboardInterrupt:
                train(5)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    assert numbers(tmp_path) == [*range(5)] * 20
    assert finished.warnings == []


def test_a_hundred_threads_lose_and_double_nothing(run, tmp_path: Path) -> None:
    body = """
    import gc
    ended = threading.Event()
    refused = []
    def disturb(number):
        try:
            with tbslow.summary.step():  # not the training thread: told so, and no harm
                pass
        except tbslow.UsageError:
            refused.append(number)
        while not ended.is_set():
            tf.constant(1.0) + 1.0
            if number % 10 == 0:
                monitor.flush()
            if number % 10 == 1:
                tbslow.summary.allocator("GPU:0", bytes_in_use=1, peak_bytes=2)
            time.sleep(0.02)
    with tbslow.start(logdir) as monitor:
        train(1)
        threads = [threading.Thread(target=disturb, args=(n,)) for n in range(100)]
        for thread in threads:
            thread.start()
        train(500, 0.001)
        ended.set()
        for thread in threads:
            thread.join()
    print(len(refused))
    """
    finished = run(body)
    assert finished.stdout == "100\n", finished.stderr
    written = chunks(tmp_path)
    assert [n for chunk in written for n in chunk.steps.number.tolist()] == [0, *range(500)]
    assert [chunk.sequence for chunk in written] == list(range(len(written)))
    assert finished.warnings == []


def test_a_process_without_memory_goes_on_training(run, tmp_path: Path) -> None:
    body = """
    import resource
    with tbslow.start(logdir) as monitor:
        train(300)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
        hoard = []
        try:
            while True:
                hoard.append(bytearray(1 << 16))
        except MemoryError:
            pass
        train(300)
        monitor.flush()
        hoard.clear()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        train(300)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    written = numbers(tmp_path)
    assert written[:300] == list(range(300))
    assert written[-300:] == list(range(300))
    assert len(written) == 900 or failures(tmp_path)  # what was lost is said


def test_a_process_that_can_have_no_more_threads_trains_all_the_same(run, tmp_path: Path) -> None:
    body = """
    real = threading.Thread.start
    def refuse(thread):
        if thread.name.startswith("tbslow"):
            raise RuntimeError("can't start new thread")
        real(thread)
    threading.Thread.start = refuse
    with tbslow.start(logdir):
        train(50)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    assert numbers(tmp_path) == list(range(50))
    failed = [re.search(r"monitor: (\w+) failed", each)[1] for each in finished.warnings]
    assert failed == ["slow_steps", "background"]


def test_a_clock_that_is_set_changes_no_duration(run, tmp_path: Path) -> None:
    """An hour back, then a day ahead, as a time server or a resumed laptop does."""
    body = """
    from tb_slowdown_plugin.collectors.timing.clock import Clock

    ahead = 0.0
    Clock.__init__.__defaults__ = (*Clock.__init__.__defaults__[:3], lambda: time.time() + ahead)
    with tbslow.start(logdir) as monitor:
        for ahead in (0.0, -3600.0, 86400.0, 0.0):
            train(100, 0.001)
            monitor.flush()
    """
    finished = run(body)
    assert finished.returncode == 0, finished.stderr
    assert finished.warnings == []
    steps = [chunk.steps for chunk in chunks(tmp_path) if len(chunk.steps)]
    assert sum(len(table) for table in steps) == 400
    periods = np.concatenate([table.period_seconds for table in steps])
    assert 0.001 <= np.median(periods) < 0.1
    assert periods.sum() < 60.0
    begins = [table.ended[0] for table in steps]
    assert max(begins) - min(begins) > 80_000.0  # each chunk tells the time that the clock told
    (read,) = read_runs(str(tmp_path), warn=pytest.fail)
    report = account_for(read).report
    assert report.steps == 400
    assert report.wall_seconds == pytest.approx(periods.sum())
    # Neighbours may be seen in steps of 1 ms, at the disk when it is flushed, too, and that these
    # sleep; a clock that jumps may not.
    seen = {cause.cause: cause for cause in report.causes}
    assert seen.keys() <= {"cpu_contention", "disk", "python_overhead", "warm_up"}
    if paused := seen.get("python_overhead"):
        assert paused.summary.startswith("The training thread sleeps until a time has passed")


def test_each_collector_may_fail_in_each_of_its_methods(run, tmp_path: Path) -> None:
    body = """
    from tb_slowdown_plugin.collectors import registry
    from tb_slowdown_plugin.writer import session_factory as assembly

    create = registry.create
    def fail(*_, **__):
        raise RuntimeError("injected")
    for method in ("start", "read", "read_in_thread", "stop"):
        collectors = create()
        for collector in collectors:
            if hasattr(collector, method):
                setattr(collector, method, fail)
        assembly.create_collectors = lambda: collectors
        with tbslow.start(Path(logdir) / method) as monitor:
            train(30, 0.01)
            monitor._session._sampling.take()
            monitor._session.tick()
            train(30)
        assembly.create_collectors = create
        with tbslow.start(Path(logdir) / f"after-{method}"):
            train(30)
    print(len(create()))
    """
    finished = run(body)
    assert finished.returncode == 0, finished.stderr
    count = int(finished.stdout)
    assert count > 10
    for method, steps in (("start", 60), ("read", 60), ("read_in_thread", 60), ("stop", 60)):
        assert len(numbers(tmp_path / "run" / method)) == steps
        assert len(numbers(tmp_path / "run" / f"after-{method}")) == 30
    failed = {failure.part for failure in failures(tmp_path / "run" / "start")}
    assert len(failed) == count
    states = chunks(tmp_path / "run" / "start")[0].environment.collectors
    assert {(state.status, state.reason) for state in states} == {
        ("failed", "RuntimeError in fail")
    }
    assert len(failures(tmp_path / "run" / "read")) > 5

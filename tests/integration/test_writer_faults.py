"""What may go wrong in and around a program that trains: each case is a program of its own.

Kills are in `test_faults_kill.py`, disks that fail in `test_faults_storage.py`.
"""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from integration.written import chunks, failures, numbers

pytestmark = pytest.mark.tensorflow


def test_a_program_that_just_ends_has_everything_written(run, tmp_path):
    finished = run("monitor = tbslow.start(logdir); train(300); print('trained')")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "trained\n"
    assert numbers(tmp_path) == list(range(300))
    assert finished.warnings == []


def test_in_the_idiom_too_a_program_that_just_ends_has_everything_written(run, tmp_path):
    body = """
    tf.summary.create_file_writer(logdir).set_as_default()
    train(300)
    """
    finished = run(body)
    assert finished.returncode == 0, finished.stderr
    assert numbers(tmp_path) == list(range(300))
    assert finished.warnings == []


def test_a_full_disk_costs_one_warning_and_training_goes_on(run, tmp_path):
    # A limit on the size of files is what a full disk is to the program: writes fail.
    body = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with tbslow.start(logdir) as monitor:
        train(100); monitor.flush()
        size = next(Path(logdir).rglob("*tfevents*")).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        train(100); monitor.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        for _ in range(4):
            train(100); monitor.flush()
        first, = Path(logdir).rglob("*tfevents*")  # no retry leaves a file behind
        assert first.stat().st_size == size  # nor half a record
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        train(100)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    assert len(finished.warnings) == 1
    assert "writing failed" in finished.warnings[0]
    assert len(numbers(tmp_path)) == 700  # kept in memory until there was room again
    assert [failure.part for failure in failures(tmp_path)] == ["writing"]


def test_a_place_that_can_not_be_written_costs_one_warning(run, tmp_path):
    body = """
    with tbslow.start("/proc/no-such-place/run") as monitor:
        for _ in range(3):
            train(10); monitor.flush()
    print("trained")
    """
    finished = run(body)
    assert finished.returncode == 0
    assert finished.stdout == "trained\n"
    assert len(finished.warnings) == 1


def test_a_forked_child_writes_nothing_and_may_train_on(run, tmp_path):
    body = """
    with tbslow.start(logdir) as monitor:
        train(10)
        pid = os.fork()
        if pid == 0:
            train(5)
            with tbslow.summary.phase("forward"):
                pass
            for _ in tbslow.data([1, 2]):
                pass
            monitor.flush()
            monitor.stop()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        train(10)
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    assert numbers(tmp_path) == [*range(10), *range(10)]
    assert len({chunk.session for chunk in chunks(tmp_path)}) == 1


def test_eager_execution_disabled(run, tmp_path):
    body = """
    tf.compat.v1.disable_eager_execution()
    x = tf.compat.v1.placeholder(tf.float32, [])
    y = x * 2.0
    with tbslow.start(logdir), tf.compat.v1.Session() as session:
        for number in tbslow.data(range(30)):
            with tbslow.summary.step():
                session.run(y, {x: number})
    print("trained")
    """
    finished = run(body)
    assert finished.stdout == "trained\n", finished.stderr
    assert finished.warnings == []
    assert numbers(tmp_path) == list(range(30))
    assert failures(tmp_path) == []


def test_warnings_as_errors_do_not_reach_the_training(run, tmp_path):
    body = """
    import warnings
    warnings.simplefilter("error")
    with tbslow.start("/proc/no-such-place/run") as monitor:
        train(10)
        monitor.flush()
    print("trained")
    """
    assert run(body).stdout == "trained\n"

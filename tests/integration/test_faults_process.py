"""Forks, threads, notebooks and the ends of a process.

What each of them does is defined in docs/writer.md.
"""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from integration.written import chunks, failures, numbers

pytestmark = pytest.mark.tensorflow


def sessions(directory):
    return len({chunk.session for chunk in chunks(directory)})


def test_a_forked_child_may_start_a_monitor_of_its_own(run, tmp_path):
    body = """
    with tbslow.start(logdir):
        train(3)
        pid = os.fork()
        if pid == 0:
            with tbslow.start(logdir + "/child"):
                train(4)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        train(2)
    """
    finished = run(body)
    assert finished.returncode == 0, finished.stderr
    assert numbers(tmp_path / "run" / "child") == [0, 1, 2, 3]
    assert numbers(tmp_path / "run" / "slowdown") == [0, 1, 2, 0, 1]


def test_of_two_threads_that_step_at_once_the_second_is_told(run, tmp_path):
    body = """
    refused, training = [], threading.Event()

    def second():
        training.wait()
        for _ in range(50):
            try:
                with tbslow.summary.step():
                    pass
            except tbslow.UsageError as error:
                refused.append(str(error))

    other = threading.Thread(target=second, name="other")
    with tbslow.start(logdir):
        other.start()
        train(1)
        training.set()
        train(50, 0.001)
        other.join()
    assert len(refused) == 50
    print(refused[0])
    """
    finished = run(body)
    assert "thread 'other'" in finished.stdout, finished.stderr
    assert "a run has one training thread" in finished.stdout
    assert numbers(tmp_path) == [0, *range(50)]


def test_training_may_run_in_any_one_thread(run, tmp_path):
    body = """
    with tbslow.start(logdir):
        worker = threading.Thread(target=train, args=(20,))
        worker.start()
        worker.join()
    """
    assert run(body).returncode == 0
    assert numbers(tmp_path) == list(range(20))


def test_a_cell_of_a_notebook_that_is_run_again_says_how_to_go_on(run, tmp_path):
    body = """
    cell = 'tbslow.start(logdir); train(3)'
    exec(cell)
    try:
        exec(cell)
    except tbslow.UsageError as error:
        print(error)
    train(2)
    tbslow.stop()
    exec(cell)
    """
    finished = run(body)
    assert "stop it first with `tbslow.stop()`" in finished.stdout, finished.stderr
    assert sorted(numbers(tmp_path)) == [0, 0, 0, 1, 1, 1, 2, 2]
    assert sessions(tmp_path) == 2
    assert finished.warnings == []


def test_os_exit_loses_what_was_not_written_yet_and_nothing_else(run, tmp_path):
    body = """
    monitor = tbslow.start(logdir)
    train(30)
    monitor.flush()
    train(5)
    os._exit(3)
    """
    assert run(body).returncode == 3
    assert numbers(tmp_path) == list(range(30))


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(5)", 5), ("raise KeyError('mine')", 1), ("raise KeyboardInterrupt", -2)],
)
def test_however_the_interpreter_ends_everything_is_written(run, tmp_path, end, status):
    finished = run(f"tbslow.start(logdir)\ntrain(30)\n{end}")
    assert finished.returncode == status
    assert numbers(tmp_path) == list(range(30))
    assert failures(tmp_path) == []
    assert finished.warnings == []


def test_threads_of_the_users_that_live_on_do_not_keep_the_end_from_being_written(run, tmp_path):
    body = """
    tbslow.start(logdir)
    train(30)
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    threading.Thread(target=time.sleep, args=(0.2,)).start()
    """
    assert run(body).returncode == 0
    assert numbers(tmp_path) == list(range(30))

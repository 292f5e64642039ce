"""`tbslow run` runs a program as Python does: output, status, signals, tracebacks, children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = ("-m", "tb_slowdown_plugin", "run")


class Programs:
    """Runs one program by Python and by `tbslow run`."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, "PYTHONPATH": str(root)}

    def run(self, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env=self._environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def pair(
        self, text: str, *arguments: str, flags: tuple[str, ...] = (), given: str = ""
    ) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
        (self.folder / "program.py").write_text(text)
        return (
            self.run(*flags, "program.py", *arguments, given=given),
            self.run(*flags, *RUN, "program.py", *arguments, given=given),
        )


@pytest.fixture
def programs(tmp_path: Path, root: Path) -> Programs:
    return Programs(tmp_path, root)


NO_TENSORFLOW = "tbslow: No steps recorded: the program didn't import TensorFlow.\n"

SURROUNDINGS = """
import os, sys
print(sys.argv, __name__, __file__, __spec__, sys.path, os.getcwd(), sys.flags, sys.orig_argv)
print(sorted(os.environ.items()))
print("sitecustomize" in sys.modules, sys.stdin.read())
"""


def test_the_program_sees_what_python_would_show_it(programs: Programs) -> None:
    plain, run = programs.pair(
        SURROUNDINGS, "a", "--quiet", flags=("-O", "-X", "dev"), given="stdin"
    )
    assert "stdin" in plain.stdout
    assert run.stdout == plain.stdout
    assert run.returncode == plain.returncode == 0
    assert run.stderr == NO_TENSORFLOW


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        ("raise ValueError('boom')", "ValueError"),
        ("sys.exit(3)", ""),
        ("sys.exit('a reason')", ""),
        ("sys.exit(None)", ""),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(5)", "KeyboardInterrupt"),
        ("exec(compile('1 +', 'inner.py', 'exec'))", "SyntaxError"),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_status_and_traceback_are_those_of_the_program(
    programs: Programs, ending: str, error: str
) -> None:
    text = f"import os, signal, sys, time\nprint('begun', flush=True)\n{ending}\n"
    plain, run = programs.pair(text)
    assert run.stdout == plain.stdout
    said = f"tbslow: No steps recorded before the program ended with {error}.\n"
    assert run.stderr == plain.stderr + (said if error else NO_TENSORFLOW)
    assert run.returncode == plain.returncode


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGKILL", "SIGUSR1"])
def test_a_program_that_is_killed_is_killed(programs: Programs, signal: str) -> None:
    text = f"import os, signal, time\nos.kill(os.getpid(), signal.{signal}); time.sleep(5)\n"
    plain, run = programs.pair(text)
    assert run.returncode == plain.returncode < 0
    assert run.stderr == plain.stderr == ""


def test_a_module_is_run_as_by_m(programs: Programs) -> None:
    package = programs.folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("VALUE = 5\n")
    (package / "train.py").write_text(
        "import sys\nfrom .part import VALUE\n"
        "print(VALUE, __name__, __package__, __spec__.name, sys.argv, sys.path)\n"
    )
    plain = programs.run("-m", "pkg.train", "x")
    run = programs.run(*RUN, "-m", "pkg.train", "x")
    assert run.stdout == plain.stdout
    assert "5 __main__ pkg pkg.train" in run.stdout


CHILDREN = """
import multiprocessing, os, pickle, subprocess, sys

class Sent:
    pass

def work(sent):
    gate = ("TBSLOW_CHROMIUM", "TBSLOW_LIBRARIES_VENV", "TBSLOW_XPROF_VENV", "TBSLOW_VENV")
    ours = sorted(key for key in os.environ if "TBSLOW" in key and key not in gate)
    return type(sent).__module__, ours

if __name__ == "__main__":
    print(pickle.dumps(Sent()))
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(work, [Sent()])[0])
    print(subprocess.run([sys.executable, "-c", "import os; print(os.environ.get('PYTHONPATH'))"],
                         capture_output=True, text=True).stdout)
"""


def test_children_are_not_watched_and_find_the_main_module(programs: Programs) -> None:
    plain, run = programs.pair(CHILDREN)
    assert "spawn ('__mp_main__', [])" in plain.stdout
    assert run.stdout == plain.stdout
    assert run.stderr == NO_TENSORFLOW  # once: no child says it, too
    assert run.returncode == plain.returncode == 0


def test_a_program_may_become_another_one(programs: Programs) -> None:
    text = (
        "import os, sys\nif len(sys.argv) > 1: print(sys.argv); sys.exit(7)\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv, 'again'])\n"
    )
    plain, run = programs.pair(text)
    assert (run.stdout, run.stderr, run.returncode) == (plain.stdout, plain.stderr, 7)


def test_the_users_own_sitecustomize_is_run(programs: Programs, root: Path) -> None:
    (programs.folder / "site").mkdir()
    (programs.folder / "site" / "sitecustomize.py").write_text(
        "import builtins; builtins.own = 1\n"
    )
    programs._environment["PYTHONPATH"] += os.pathsep + str(programs.folder / "site")
    text = (
        "import os, sitecustomize\nprint(own, sitecustomize.__file__, os.environ['PYTHONPATH'])\n"
    )
    plain, run = programs.pair(text)
    assert plain.returncode == 0, plain.stderr
    assert run.stdout == plain.stdout


def test_what_python_refuses_python_refuses(programs: Programs) -> None:
    plain, run = programs.run("missing.py"), programs.run(*RUN, "--quiet", "missing.py")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", plain.stderr)
    assert programs.run(*RUN, "missing.py").stderr == plain.stderr


def test_python_without_its_environment_is_refused_in_one_line(programs: Programs) -> None:
    run = programs.run("-S", *RUN, "program.py")
    assert run.returncode == 2
    assert run.stderr == (
        "tbslow: Python was started with -E, -I, or -S: tbslow run works without them\n"
    )

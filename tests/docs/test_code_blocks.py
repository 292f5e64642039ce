"""Each code block of the README and the documentation is run by a test; none is left out unseen.

Python runs as a user would paste it, file by file. Commands of `tbslow` run on runs with
the names that they mention. Of any other command this file knows which test runs it, and
fails on one that nobody runs.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from event_files import make_steps, split, write_chunks
from unit.profiler.real_captures import MI300, write

ROOT = Path(__file__).parents[2]
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "tb_slowdown_plugin" / "server" / "http_api.md",
]
GIVEN = """
import os, sys
import tensorflow as tf
import tbslow
features = tf.random.normal([128, 4])
dataset = tf.data.Dataset.from_tensor_slices((features, features[:, :1])).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
checkpoint = tf.train.Checkpoint(model=model)
train_step = lambda batch: model(batch[0])
"""
RUN_BY = {
    r"tbslow watch(?!.*--once)": "tests/integration/test_watch_command.py",
    r"git clone ": "scripts/test",  # and whoever reads this
    r"(\.venv/bin/)?pip install ": "tests/packaging/test_wheel.py",
    r"pip install \. && tensorboard --logdir demo_logs$": "tests/packaging/test_wheel.py",
    r"tensorboard --logdir ": "tests/integration/test_tensorboard_live.py",
    r"tbslow demo\b": "tests/integration/test_demo_command.py",
    r"tbslow fleet s3": "tests/integration/test_fleet_dask.py",
    r"tbslow run ": "tests/integration/test_run_command.py",
    r"tbslow try ": "tests/integration/test_try_command.py",
    r"TBSLOW_LOGDIR=\S+ python train\.py$": "tests/unit/writer/launch/on_import/test_auto.py",
    r"scripts/test$": "scripts/test",
    r"\.venv/bin/pytest ": "scripts/test",
}
"""Start of a command -> what runs it."""


PROGRAM = re.compile(
    r"(?:cd (?P<folder>\w+) && )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?python "
    r"(?:-m (?P<module>\S+)|(?P<file>\S+))(?P<rest>.*)"
)
"""A program of this checkout: that it is there and has these flags is what is checked; the
long ones are benchmarks, and print the figures beside them."""


OTHERS = {"architecture.md", "trackers.md"}
"""Files whose blocks change a copy of the tree, or need libraries:
`tests/docs/test_architecture.py` and `tests/libraries/test_trackers.py` run them."""


class Block(NamedTuple):
    """A fenced block."""

    file: Path
    language: str
    code: str


def blocks_of(file: Path) -> list[Block]:
    found = re.findall(
        r"^```([a-z]*)[^\n]*\n(.*?)^```$", file.read_text(), re.DOTALL | re.MULTILINE
    )
    return [Block(file, language, code) for language, code in found if file.name not in OTHERS]


BLOCKS = [block for file in FILES for block in blocks_of(file)]
PYTHON = [file for file in FILES if any(block.language == "python" for block in blocks_of(file))]


def is_drawing(block: Block) -> bool:
    """Boxes and arrows, or what a program prints."""
    return block.language == "text" or any(mark in block.code for mark in ("───", "\\___", "->"))


COMMANDS = sorted(
    {
        re.split(r"\s+#|\s{3,}", line)[0].removeprefix("$ ").strip()
        for block in BLOCKS
        if block.language in ("", "console", "bash", "sh") and not is_drawing(block)
        for line in block.code.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    }
)


def test_there_is_something_to_run() -> None:
    assert {"README.md", "index.md"} <= {file.name for file in PYTHON}
    assert len([line for line in COMMANDS if line.startswith("tbslow ")]) >= 8


def test_each_block_is_of_a_language_that_a_test_runs() -> None:
    known = {"", "console", "bash", "sh", "text", "python", "json", "yaml", "sql"}
    assert [block for block in BLOCKS if block.language not in known] == []
    # tests/integration/test_server_contract.py compares these with what the server answers
    assert {block.file.name for block in BLOCKS if block.language == "json"} <= {"http_api.md"}
    assert [block.file.name for block in BLOCKS if block.language == "yaml"] == ["sharing.md"]
    # tests/integration/test_fleet_command.py asks DuckDB these questions
    assert {block.file.name for block in BLOCKS if block.language == "sql"} == {"fleet.md"}


@pytest.mark.tensorflow
def test_the_python_of_each_file_runs(tmp_path: Path) -> None:
    program = [GIVEN]
    for file in PYTHON:
        place = tmp_path / file.stem
        place.mkdir()
        code = "\n".join(block.code for block in blocks_of(file) if block.language == "python")
        program.append(f"os.chdir({str(place)!r})\nexec(compile({code!r}, {file.name!r}, 'exec'))")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name, runs in (("README", 4), ("index", 5)):
        report = subprocess.run(
            [sys.executable, "-m", "tb_slowdown_plugin", "report", str(tmp_path / name / "logs")],
            capture_output=True,
            text=True,
            check=True,
        )
        told = re.findall(r"^Run (.*)$", report.stdout, re.MULTILINE)
        assert told == [f"run{number}" for number in range(1, runs + 1)], name


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `tbslow` on its path, and runs of the names in the documentation."""
    home = tmp_path_factory.mktemp("workplace")
    names = ["logs/run1", "logs/run2", "logs/old", "logs/new"]
    names += [f"{side}{number}" for side, number in itertools.product("ab", (1, 2, 3))]
    for seed, name in enumerate(names):
        write_chunks(home / name / "slowdown", split(make_steps(400, seed=seed)))
    write(MI300, home / "logs")
    (home / "bin").mkdir()
    command = home / "bin" / "tbslow"
    command.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tb_slowdown_plugin "$@"\n'
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return home


def shell(
    line: str, home: Path, where: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    path = f"{home / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", line],
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_run(line: str, workplace: Path) -> None:
    for start, by in RUN_BY.items():
        if re.match(start, line):
            assert (ROOT / by).exists()
            return
    if line.startswith("tbslow "):
        done = shell(line, workplace, workplace)
        assert done.returncode == 0, done.stderr
        return
    place, told = ROOT, PROGRAM.fullmatch(line)
    assert told, f"no test runs {line!r}: give it one, and a line in RUN_BY"
    if told["folder"]:
        place /= told["folder"]
    if told["module"] == "pytest":
        assert [path for path in told["rest"].split() if (place / path).exists()], line
        return
    program = (told["module"] or "").replace(".", "/") or told["file"].removesuffix(".py")
    sources = [place / f"{program}.py", place / program / "__main__.py"]
    found = [path for path in sources if path.exists()]
    assert found, f"{line!r} runs nothing that there is"
    for flag in re.findall(r"--[\w-]+", told["rest"]):
        assert flag in found[0].read_text(), f"{found[0].name} has no {flag}"


# -- the workflow for continuous integration -------------------------------------

TRAIN = """\
import sys
sys.path.insert(0, {tests!r})
from event_files import make_steps, split, write_chunks
from unit.profiler.real_captures import MI300, write
from pathlib import Path
logdir = Path(sys.argv[sys.argv.index("--logdir") + 1])
steps = make_steps(400, seconds={seconds}, seed=len(str(logdir)))
write_chunks(logdir / "slowdown", split(steps))
"""


@pytest.mark.parametrize(("seconds", "status"), [(0.05, 0), (0.06, 3)])
def test_the_workflow_fails_a_change_that_is_slower(
    workplace: Path, tmp_path: Path, seconds: float, status: int
) -> None:
    (block,) = [block for block in BLOCKS if block.language == "yaml"]
    steps = yaml.safe_load(block.code)["jobs"]["compare"]["steps"]
    _, _, install, train, compare = steps
    assert install["run"] == "pip install 'tb-slowdown-plugin[tf]'"
    repository = tmp_path / "repository"
    repository.mkdir()

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(
            ["git", *identity, *arguments], cwd=repository, check=True, capture_output=True
        )

    def commit(step_seconds: float) -> None:
        text = TRAIN.format(tests=str(ROOT / "tests"), seconds=step_seconds)
        (repository / "train.py").write_text(text)
        git("add", "train.py")
        git("commit", "--allow-empty", "-m", "train")

    git("init", "--initial-branch=main")
    commit(0.05)
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    commit(seconds)
    script = train["run"].replace("${{ github.base_ref }}", "main")
    trained = shell(script, workplace, repository, GITHUB_WORKSPACE=str(repository))
    assert trained.returncode == 0, trained.stderr
    compared = shell(compare["run"], workplace, repository)
    assert compared.returncode == status, compared.stdout + compared.stderr

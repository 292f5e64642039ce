"""The matrix of versions: the wheel in clean environments.

Each row is an environment of its own with the versions that it names, and nothing else but
what the wheel requires. `check.py` is run in it: with TensorFlow it records a run, and all
rows report and open recorded ones, under both of TensorBoard's loaders.

    python scripts/compatibility                 all rows, then writes docs/compatibility.md
    python scripts/compatibility --only 3 7      these rows; writes nothing
    python scripts/compatibility --jobs 3        three rows at once
    python scripts/compatibility --python 3.13=/opt/python3.13/bin/python

It exits with 1 where a row fails. A row takes 1 to 4 minutes, up to 9 on a busy machine, and up to
2 GB of disk while it runs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs/compatibility.md"
BEGIN: Final = "<!-- made by scripts/compatibility: begin -->"
END: Final = "<!-- end -->"
_MOST_SECONDS: Final = 1200
_SHOWN: Final = ("tensorflow", "tensorboard", "keras", "protobuf", "numpy")


@dataclass(frozen=True)
class Row:
    """One environment: what is pinned, by the names that pip knows."""

    python: str
    pins: Mapping[str, str]

    @property
    def requirements(self) -> list[str]:
        """What pip is asked for besides the wheel."""
        return [f"{name}=={version}" for name, version in self.pins.items()]


def training(python: str, tensorflow: str, protobuf: str, numpy: str) -> Row:
    """A row that trains; TensorFlow brings the TensorBoard of its own version."""
    pins = {"tensorflow-cpu": tensorflow, "protobuf": protobuf, "numpy": numpy}
    return Row(python, pins | _resources(tensorflow))


def viewing(python: str, tensorboard: str, protobuf: str, numpy: str) -> Row:
    """A row without TensorFlow, as of people who only look."""
    pins = {"tensorboard": tensorboard, "protobuf": protobuf, "numpy": numpy}
    return Row(python, pins | _resources(tensorboard))


def _resources(version: str) -> dict[str, str]:
    """TensorBoard up to 2.20 imports pkg_resources, which newer setuptools do not have."""
    return {} if version >= "2.21" else {"setuptools": "80.9.0"}


ROWS: Final = (
    training("3.10", "2.16.2", "4.25.*", "1.26.*"),
    training("3.12", "2.17.*", "4.25.*", "1.26.*"),
    training("3.11", "2.18.*", "5.29.*", "2.0.*"),
    training("3.12", "2.19.*", "5.29.*", "2.1.*"),
    training("3.13", "2.20.*", "6.33.*", "2.3.*"),
    training("3.10", "2.21.*", "6.31.1", "1.26.*"),
    training("3.12", "2.21.*", "6.33.*", "2.2.*"),
    training("3.13", "2.21.*", "7.*", "2.*"),
    viewing("3.12", "2.16.*", "4.25.*", "1.26.*"),
    viewing("3.10", "2.17.*", "5.29.*", "1.26.*"),
    viewing("3.12", "2.18.*", "5.29.*", "2.0.*"),
    viewing("3.13", "2.20.*", "6.33.*", "2.1.*"),
    viewing("3.11", "2.20.*", "7.*", "2.*"),
    viewing("3.10", "2.21.*", "6.31.1", "1.26.*"),
    viewing("3.13", "2.21.*", "7.*", "2.*"),
)
"""The oldest and the newest TensorFlow and TensorBoard with the oldest and newest of what they
allow, and the steps between. TensorBoard 2.16 needs NumPy 1, and up to 2.18 a module
that Python 3.13 does not have."""


def find_python(version: str, given: Mapping[str, str]) -> str:
    """The interpreter of a version: as given, on the PATH, or one of pyenv's.

    Raises:
      FileNotFoundError: There is none.
    """
    candidates = [given.get(version), shutil.which(f"python{version}")]
    candidates += map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in filter(None, candidates):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return candidate
    raise FileNotFoundError(f"no Python {version}; give one by --python {version}=PATH")


def build_wheel(out: Path) -> Path:
    """The wheel of this checkout, made in a copy: an old `build/` would get into it."""
    copy = out / "copy"
    copy_checkout(copy)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(copy)]
    subprocess.run(command, check=True, cwd=out)
    (wheel,) = out.glob("*.whl")
    return wheel


def copy_checkout(copy: Path) -> None:
    """This checkout, without what was made in it."""
    left_out = shutil.ignore_patterns(".*", "*.egg-info", "node_modules", "demo_logs")
    made = {str(ROOT): {"build", "dist"}}  # packages of ours may have such names

    def ignored(folder: str, names: list[str]) -> set[str]:
        return left_out(folder, names) | made.get(folder, set())

    shutil.copytree(ROOT, copy, ignore=ignored)


def run_row(row: Row, wheel: Path, given: Mapping[str, str]) -> dict[str, Any]:
    """What `check.py` says in the row's environment, or `{"error": ...}`."""
    with tempfile.TemporaryDirectory(prefix="tbslow-row-") as folder:
        home = Path(folder) / "env"
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        python = str(home / "bin/python")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        try:
            for command in (
                [find_python(row.python, given), "-m", "venv", str(home)],
                [*pip, str(wheel), *row.requirements],
                [python, "-m", "pip", "check"],
                [python, str(ROOT / "scripts/compatibility/check.py"), str(ROOT / "demo_logs")],
            ):
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=_MOST_SECONDS,
                    check=False,
                )
                if done.returncode:
                    said = (done.stderr or done.stdout).strip().splitlines()
                    return {"error": "\n".join(said[-12:]) or f"status {done.returncode}"}
        except (OSError, subprocess.SubprocessError) as error:
            return {"error": str(error)}
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def run_and_tell(row: Row, wheel: Path, given: Mapping[str, str]) -> dict[str, Any]:
    """The same, printed when it is known."""
    began = time.monotonic()
    result = run_row(row, wheel, given)
    ended = time.monotonic() - began
    print(
        f"{row.python} {' '.join(row.requirements)}: {ended:.0f} s\n    "
        f"{result.get('error') or 'works'}",
        flush=True,
    )
    return result


def commit_of(checkout: Path) -> str:
    """Which commit the wheel is made of."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(checkout), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return f"commit {git('rev-parse', '--short', 'HEAD')}{', changed' if changed else ''}"
    except (OSError, subprocess.CalledProcessError):
        return "a folder without its history"


def table(rows: Sequence[Row], results: Sequence[Mapping[str, Any]]) -> str:
    """The results as Markdown."""
    heads = ("Python", "TensorFlow", "TensorBoard", "Keras", "protobuf", "NumPy")
    lines = [
        f"| {' | '.join(heads)} | trains and records | report | Python loader | Rust loader |",
        "|" + "---|" * (len(heads) + 4),
    ]
    for row, result in zip(rows, results, strict=True):
        versions = result.get("versions", {})
        if "error" in result:
            pins = ", ".join(row.requirements)
            what = result["error"].splitlines()[-1].replace("|", "/")
            lines.append(f"| {row.python} | {pins} |" + " |" * 4 + f" FAILS: {what} |" + " |" * 3)
            continue
        cells = [versions["python"], *(versions.get(name, "none") for name in _SHOWN)]
        cells += [result.get(name, "-") for name in ("training", "report", "python", "rust")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(document: Path, text: str) -> None:
    """Puts the table into the page, between its marks."""
    page = document.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    document.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


def main() -> int:
    """Runs the rows and writes the page; 1 where one fails."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--only", type=int, nargs="+", help="rows by number, from 1")
    arguments.add_argument("--jobs", type=int, default=1, help="rows at once")
    arguments.add_argument("--python", action="append", default=[], metavar="VERSION=PATH")
    chosen = arguments.parse_args()
    given = dict(one.split("=", 1) for one in chosen.python)
    rows = [ROWS[number - 1] for number in chosen.only] if chosen.only else list(ROWS)
    commit = commit_of(ROOT)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(chosen.jobs) as pool:
        wheel = build_wheel(Path(folder))
        results = list(pool.map(lambda row: run_and_tell(row, wheel, given), rows))
    today = datetime.datetime.now(datetime.timezone.utc).date()
    made = f"Made on {today} of {commit}, {platform.system()}, {platform.machine()}."
    text = f"{made}\n\n{table(rows, results)}"
    print(text)
    if not chosen.only:
        write(DOCUMENT, text)
    return 1 if any("error" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

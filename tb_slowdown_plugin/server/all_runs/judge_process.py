"""A process that judges runs, one after the other: TensorBoard's own stays free for requests.

It's started as a command of its own: TensorBoard may be started from a notebook, and
`multiprocessing` would import the program again that started it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeAlias

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import BOUNDS, assemble
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.judged_runs import judge
from tb_slowdown_plugin.report.run_digest import RunDigest, digest_of

Unjudged: TypeAlias = "Run | list[Record]"
"""A run that was drawn from scalars, or the records of one."""

Judged: TypeAlias = "RunDigest | str"
"""A digest, or why there is none, in a sentence."""

_LOWER_PRIORITY: Final = 10
_LENGTH_BYTES: Final = 8
_END_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Task:
    """One run to judge."""

    name: str
    unjudged: Unjudged
    logdir: Path | None
    """Where captures and experiments lie; None for a remote logdir."""


def judge_task(task: Task) -> Judged:
    """The digest of a run; whatever is wrong with its records is no exception."""
    try:
        records = task.unjudged
        run = (
            records
            if isinstance(records, Run)
            else assemble(task.name, lambda: records, bounds=BOUNDS)
        )
        if run is None:
            return "No record of it can be read."
        return digest_of(*judge(run, task.logdir))
    except Exception as error:  # noqa: BLE001 - a stranger's records; one run must not end all
        return unjudgeable(error)


def unjudgeable(error: Exception) -> str:
    """Why a run has no digest, as its row shows it."""
    return f"It can't be judged ({type(error).__name__}: {error})."


class JudgeProcess:
    """Judges in a process of its own, and in this one where none can be started.

    For one thread at a time. A process that ends is started again for the next run.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_alone = False

    def judge(self, task: Task) -> Judged:
        """Blocks until the run is judged."""
        process = self._process or self._start()
        if process is None or process.stdin is None or process.stdout is None:
            return judge_task(task)
        try:
            _send(process.stdin, task)
            found: Judged = _receive(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            status = self.close()
            return f"The process that judged it ended with status {status}."
        except Exception as error:  # noqa: BLE001 - pickling may raise anything
            self.close()  # half an answer may be in its pipe
            return unjudgeable(error)
        return found

    def close(self) -> int | None:
        """Ends the process; its exit status."""
        process, self._process = self._process, None
        if process is None:
            return None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            return process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _start(self) -> subprocess.Popen[bytes] | None:
        if self._is_alone:
            return None
        package_root = str(Path(__file__).parents[3])
        paths = [package_root, *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "OPENBLAS_NUM_THREADS": "1",  # each process has one core
                },
            )
        except OSError:
            self._is_alone = True
        return self._process


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Judges what it is sent until there is no more."""
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _send(answers, judge_task(_receive(requests)))


def _send(stream: IO[bytes], value: Task | Judged) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """What the other side of the pipe has sent; nobody else can write into it."""
    length = int.from_bytes(_read(stream, _LENGTH_BYTES), "little")
    return pickle.loads(_read(stream, length))


def _read(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _main() -> None:
    with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
        os.nice(_LOWER_PRIORITY)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not write among the answers
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()

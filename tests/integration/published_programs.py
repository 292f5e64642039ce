"""The programs of `tests/published`, each as it stands and as its author would watch it.

A line `# tbslow: code` in a program says what stands there, and in the place of the next line,
once the program uses `tbslow`. So all other lines keep their numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from integration.training_host import Finished, Training, TrainingHost

FOLDER = Path(__file__).parent.parent / "published"

RUN = """
import runpy, warnings
warnings.resetwarnings()
warnings.simplefilter("always")
warnings.simplefilter("ignore", ResourceWarning)
os.chdir(logdir)
sys.argv = ["program.py"]
runpy.run_path("program.py", run_name="__main__")
"""
"""As `python -W always program.py` does."""


@dataclass(frozen=True)
class Pair:
    """What a program did, and what it did while it was watched."""

    plain: Finished
    watched: Finished
    logdir: Path


def run_pair(host: TrainingHost, program: Path, folder: Path) -> Pair:
    """Runs a program side by side with the same program that uses `tbslow`."""
    text = program.read_text()
    running = [
        _start(host, folder / name, source)
        for name, source in (("plain", text), ("watched", watched(text)))
    ]
    plain, seen = (training.wait() for training in running)
    return Pair(plain, seen, folder / "watched" / "logs")


def watched(text: str) -> str:
    """The program as it is with `tbslow`.

    Example:
      >>> print(watched("  # tbslow: with tbslow.summary.step(): train()\\n  train()\\nprint(1)"))
        with tbslow.summary.step(): train()
      <BLANKLINE>
      print(1)
    """
    return re.sub(r"(?m)^( *)# tbslow: (.*)\n.*$", r"\1\2\n", text)


def timeless(text: str) -> str:
    """What was printed, without durations, addresses and threads.

    Example:
      >>> timeless("8/8 - 1s - 171ms/step - loss: 1.4")
      '8/8 - T - T/step - loss: 1.4'
      >>> timeless("1/1 \\x1b[1m0s\\x1b[0m 171ms/step")
      '1/1 \\x1b[1mT\\x1b[0m T/step'
      >>> timeless("W0000 00:00:1795392213.741865   30064 dataset.cc:997] no")
      'W0000 dataset.cc:997] no'
    """
    text = re.sub(r"\b\d+:\d\d:\d\d\b", "T", text)
    text = re.sub(r"\x08+", r"\b", text)  # as many as the durations before were long
    text = re.sub(r"\b0x[0-9a-f]+", "0x", text)
    ends = r"/step|/epoch| - |\x1b\[0m"
    text = re.sub(rf"(?:\b|(?<=\x1b\[1m))\d+(us|ms|s)(?={ends})", "T", text)
    return re.sub(r"(?m)^([IWE]\d{4}) [\d:.]+ +\d+ ", r"\1 ", text)


def _start(host: TrainingHost, folder: Path, source: str) -> Training:
    folder.mkdir()
    (folder / "program.py").write_text(source)
    return host.start(RUN, folder)

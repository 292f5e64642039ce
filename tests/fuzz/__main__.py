"""Coverage-guided fuzzing; run it in `tests/`, with the extra `fuzz` installed.

    python -m fuzz run [TARGET ...] --seconds 1800   all targets at once, a process each
    python -m fuzz seeds                             makes the seeds of the corpus again
    python -m fuzz one TARGET [libFuzzer options]    what `run` starts

What libFuzzer finds new is kept in --found (a temporary folder without it); an input that
breaks a target is left there as crash-*, slower than 120 s as timeout-*, above 2 GB as oom-*.
Put one that is fixed into `corpus/TARGET/`, where each test run replays it.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
ROOT = Path(__file__).parents[2]
MOST_BYTES = {"message": 1 << 16, "run": 1 << 12, "trace": 1 << 18, "request": 400}
MOST_MEGABYTES = 2048
MOST_SECONDS_EACH = 120


def fuzz_one(name: str, options: list[str]) -> None:
    """Fuzzes one target in this process until libFuzzer has enough."""
    import atheris

    with atheris.instrument_imports(include=["tb_slowdown_plugin", "fuzz"]):
        from fuzz.targets import TARGETS
    atheris.Setup([sys.argv[0], *options], TARGETS[name])
    atheris.Fuzz()


def run(names: list[str], seconds: int, found: Path) -> int:
    """Fuzzes targets side by side; prints for each how it went; 1 if one broke."""
    processes = {}
    for name in names:
        (found / name).mkdir(parents=True, exist_ok=True)
        log = (found / f"{name}.log").open("wb")
        command = [
            sys.executable, "-m", "fuzz", "one", name,
            f"-max_total_time={seconds}", f"-max_len={MOST_BYTES[name]}",
            f"-rss_limit_mb={MOST_MEGABYTES}", f"-timeout={MOST_SECONDS_EACH}",
            f"-artifact_prefix={found}/{name}-", "-print_final_stats=1",
            str(found / name), str(CORPUS / name),
        ]  # fmt: skip
        path = os.pathsep.join([str(Path(__file__).parents[1]), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path}
        processes[name] = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    broken = 0
    for name, process in processes.items():
        status = process.wait()
        said = (found / f"{name}.log").read_text(errors="replace")
        runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", said) or ["?"]
        covered = re.findall(r"cov: (\d+)", said) or ["?"]
        print(f"{name}: {runs[-1]} inputs, coverage {covered[-1]}, status {status}", flush=True)
        if status:
            broken += 1
            print(said[-3000:])
    return int(broken > 0)


def make_seeds() -> None:
    """The seeds of the corpus, out of what the repository has recorded."""
    import zlib

    import numpy as np

    from tb_slowdown_plugin.reader.event_files import EventFile, read_records
    from tb_slowdown_plugin.records.metadata import (
        DICTIONARY,
    )

    def keep(name: str, seed: str, data: bytes) -> None:
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        (CORPUS / name / seed).write_bytes(data)

    for demo in ("retrace_python_number", "keras_checkpoint", "late_worker"):
        for path in sorted((ROOT / "demo_logs" / demo).rglob("*tfevents*")):
            records = list(read_records(EventFile(demo, path), print, lambda _: None))
            smallest = min(records, key=lambda record: len(record.payload))
            message = zlib.decompressobj(zdict=DICTIONARY).decompress(smallest.payload)
            keep("message", f"{demo}-{path.parent.name}", message[:8192])
    for seed in range(12):
        keep("run", f"any-{seed:02}", np.random.default_rng(seed).bytes(400))
    captures = ROOT / "tests/unit/profiler/data"
    for path in sorted(captures.glob("*.xplane.pb.gz")):
        keep("trace", path.name.partition(".")[0], gzip.decompress(path.read_bytes())[:20_000])
    queries = (
        "run=run1",
        "run=run1&first=0&last=99&buckets=10",
        "run=..%2F..%2Foutside",
        "run=run1&capture=s&step=0",
        "run=run1&fast=..%2Foutside%2Fs&slow=s",
        "run=%3Cscript%3E",
        "run=run1&first=-1",
        "run=run1&first=9e9&buckets=%00",
    )
    for index, query in enumerate(queries):
        keep("request", f"query-{index}", bytes([index]) + query.encode())


def main() -> int:
    """Does what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("targets", nargs="*", choices=[*MOST_BYTES, []])
    running.add_argument("--seconds", type=int, default=1800)
    running.add_argument("--found", type=Path)
    one = commands.add_parser("one")
    one.add_argument("target", choices=list(MOST_BYTES))
    commands.add_parser("seeds")
    chosen, rest = parser.parse_known_args()
    if chosen.command == "seeds":
        make_seeds()
    elif chosen.command == "one":
        fuzz_one(chosen.target, rest)
    else:
        found = chosen.found or Path(tempfile.mkdtemp(prefix="tbslow-fuzz-"))
        return run(chosen.targets or list(MOST_BYTES), chosen.seconds, found.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())

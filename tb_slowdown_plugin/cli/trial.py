"""`tbslow try`: experiments on a program, from outside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tb_slowdown_plugin.analysis.causes.machine.slow_settings import find_settings
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import counted, duration
from tb_slowdown_plugin.catalog.experiments import ALLOCATOR, AS_IT_IS, EXPERIMENTS, Experiment
from tb_slowdown_plugin.cli.output import TurnsBar, ink_of, tell, write
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.experiments import Times, choose_experiments, try_all
from tb_slowdown_plugin.jobs.patch_experiments import find_patch_experiments
from tb_slowdown_plugin.jobs.preloading import preload_tcmalloc
from tb_slowdown_plugin.jobs.program_copy import SCRATCH, ProgramCopy
from tb_slowdown_plugin.jobs.trial_process import Prepare, TrialProcess
from tb_slowdown_plugin.jobs.trial_results import keep_trials, to_trial, trials_body
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.metadata import ROOT_RUN
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.report.formats.trials_text import list_text, trials_text
from tb_slowdown_plugin.writer.launch.run_script import choose_logdir, prepare
from tb_slowdown_plugin.writer.launch.settings import Settings

_MIN_TIMEOUT_SECONDS = 180.0
_TIMEOUT_RATIO = 5.0
"""A run that lasts so many times the first one is ended."""


def try_program(chosen: Namespace) -> int:
    """Tries experiments on a program; returns the exit status."""
    if chosen.list:
        width, colour = ink_of(None)
        write(list_text(list(EXPERIMENTS.values()), width=width, colour=colour), None)
        return 0
    program = ["-m", *chosen.module] if chosen.module else list(chosen.program)
    if not program or program == ["-m"]:
        raise InputError("no program to try; see 'tbslow try --help'")
    wanted = _wanted(chosen)
    logdir = Path(chosen.logdir or choose_logdir(program, time.localtime())).absolute()
    known = _run_in(logdir)
    if chosen.patch and chosen.workdir:
        raise InputError("--patch changes a copy: it can't be used with --workdir")
    current = Path.cwd()
    copy = None if chosen.workdir else ProgramCopy(program, current)
    if chosen.workdir and program[0] != "-m":
        program[0] = str(current / program[0])
    workdir = Path(chosen.workdir).absolute() if chosen.workdir else current
    place = f"in {chosen.workdir}" if chosen.workdir else "in a fresh copy of its directory"
    tell(f"runs {program[1] if program[0] == '-m' else Path(program[0]).name} once as it is, "
         f"{place}, for at most {counted(chosen.steps, 'step')}")  # fmt: skip
    with (
        tempfile.TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as scratch,
        TurnsBar(sys.stderr) as bar,
        _ending_by_sigterm(),
    ):
        make = _preparing(chosen, copy.roots if copy else [], [scratch, str(logdir)])
        process = TrialProcess(program, make, Path(scratch), copy, workdir, bar.tick)
        try:
            return _experiment(chosen, process, bar, wanted, logdir, known)
        except KeyboardInterrupt:
            return 128 + signal.SIGINT


@contextlib.contextmanager
def _ending_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the program of the trial, too, and removes its copy."""

    def end(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _experiment(
    chosen: Namespace,
    process: TrialProcess,
    bar: TurnsBar,
    wanted: list[Experiment] | None,
    logdir: Path,
    known: Run | None,
) -> int:
    def run(name: str, logdir: Path | None = None) -> Times:
        bar.begin(name)
        times = process.run(name, logdir)
        bar.end()
        return times

    began = time.monotonic()
    first = run(AS_IT_IS, logdir if known is None else None)
    seconds = time.monotonic() - began
    bar.wipe()
    process.timeout_seconds = max(_MIN_TIMEOUT_SECONDS, _TIMEOUT_RATIO * seconds)
    if first.reason:
        with contextlib.suppress(OSError):  # not empty
            logdir.rmdir()
            if chosen.logdir is None:
                logdir.parent.rmdir()
        raise InputError(f"nothing can be tried: {first.reason}")
    recorded = known or _run_in(logdir)
    report = account_for(recorded).report if recorded else None
    causes = list(report.lost_by_cause()) if report else []
    if chosen.patch and recorded and report:
        experiments = _add_patches(process, recorded, report)
    else:
        debugs = recorded is not None and bool(find_settings(recorded))
        experiments = choose_experiments(causes, debugs=debugs) if wanted is None else wanted
    if not experiments:
        what = "has a patch" if chosen.patch else "calls for an experiment"
        tell(f"no cause of this run {what}; --all tries all experiments")
        return 0
    runs = 2 * chosen.repeats * len(experiments)
    names = ", ".join(each.name for each in experiments)
    most = f"{runs} runs of {duration(seconds)}, {duration(runs * seconds)} in total"
    tell(f"tries {names}: up to {chosen.repeats} times with and without each, at most {most}")
    bar.expect(runs)
    trials: list[Trial] = []
    untried: list[tuple[str, str]] = []
    status = 0
    try:
        for outcome in try_all(experiments, run, chosen.repeats):
            trial = to_trial(outcome, causes, time.time())
            if trial is None:
                untried.append((outcome.experiment.name, outcome.reason))
            else:
                trials.append(trial)
            bar.skip_to(2 * chosen.repeats * (len(trials) + len(untried)))
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    bar.wipe()
    if trials:
        keep_trials(logdir, ROOT_RUN, trials)
    _print(chosen, trials, untried)
    if trials:
        tell(f"kept with the run: tbslow report {os.path.relpath(logdir)}")
    return status


def _print(chosen: Namespace, trials: Sequence[Trial], untried: Sequence[tuple[str, str]]) -> None:
    if chosen.format == "json":
        write(json.dumps(trials_body(trials, untried), indent=2, allow_nan=False) + "\n", None)
    elif trials or untried:
        width, colour = ink_of(None)
        write(trials_text(trials, untried, width=width, colour=colour), None)


def _wanted(chosen: Namespace) -> list[Experiment] | None:
    """The experiments that were asked for; None for those that the causes call for."""
    if chosen.all:
        return list(EXPERIMENTS.values())
    if chosen.only is None:
        return None
    names = [name for name in chosen.only.split(",") if name]
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown or not names:
        raise InputError(
            f"--only {chosen.only}: expected names of experiments; 'tbslow try --list' has them"
        )
    return [each for each in EXPERIMENTS.values() if each.name in names]


def _add_patches(process: TrialProcess, run: Run, report: Report) -> list[Experiment]:
    found = list(find_patch_experiments(run, report, Path.cwd()))
    process.changed = {each.experiment.name: each.files for each in found}
    return [each.experiment for each in found]


def _run_in(logdir: Path) -> Run | None:
    """The run that is there; None where there is none."""
    try:
        runs = list(read_runs(str(logdir), warn=lambda _: None))
    except InputError:
        return None
    if len(runs) != 1 or runs[0].name != ROOT_RUN:
        raise InputError(
            f"'{logdir}' has several runs; give the directory of one run, or a new one"
        )
    return runs[0]


def _preparing(chosen: Namespace, guarded: Sequence[Path], allowed: Sequence[str]) -> Prepare:
    def make(
        program: Sequence[str], experiment: str, logdir: str, environment: Mapping[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        settings = Settings(
            logdir,
            logdir,
            chosen.step or "",
            quiet=True,
            experiment=experiment,
            steps=chosen.steps,
            guarded=os.pathsep.join(map(str, guarded)),
            allowed=os.pathsep.join(allowed),
        )
        if experiment == ALLOCATOR:
            environment = preload_tcmalloc(environment)
        return prepare(program, settings, environment)

    return make

"""`tbslow`: read a logdir, report, and say by the exit status how it went."""

from __future__ import annotations

import gc
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Final

from tb_slowdown_plugin.cli.output import tell
from tb_slowdown_plugin.cli.parsing.arguments import parse
from tb_slowdown_plugin.errors import InputError

UNUSABLE_INPUT: Final = 2

# OpenBLAS, which NumPy's wheels bring, reads it once, as it is loaded.
_ALGEBRA_THREADS: Final = "OPENBLAS_NUM_THREADS"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status.

    Args:
      arguments: Without the program's name; None for those of the process.
    """
    try:
        chosen = parse(list(sys.argv[1:] if arguments is None else arguments))
        return _COMMANDS[chosen.command](chosen)
    except InputError as error:
        tell(str(error))
        return UNUSABLE_INPUT
    except BrokenPipeError:
        # The reader of the pipe has what it wanted; Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _report(chosen: Namespace) -> int:
    # What is imported stays: to look for garbage in it takes a tenth of a short run's report.
    gc.disable()
    _import_numpy_on_one_thread()
    # Here, and not above: `--help` answers without NumPy.
    from tb_slowdown_plugin.cli.report import report

    gc.freeze()
    gc.enable()
    return report(chosen)


def _import_numpy_on_one_thread() -> None:
    """Imports NumPy without the threads of its linear algebra, of which a report has no use.

    There is one for each core, each of which looks for work for as long as a short report takes.
    """
    chosen = os.environ.get(_ALGEBRA_THREADS)
    os.environ[_ALGEBRA_THREADS] = "1"
    import numpy  # noqa: F401

    if chosen is None:
        del os.environ[_ALGEBRA_THREADS]
    else:
        os.environ[_ALGEBRA_THREADS] = chosen


def _compare(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.compare import compare_runs

    return compare_runs(chosen)


def _share(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.share import share

    return share(chosen)


def _demo(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.demo.command import demo

    return demo(chosen)


def _trace(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.trace import trace

    return trace(chosen)


def _fix(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.fix import fix

    return fix(chosen)


def _watch(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.watch import watch

    return watch(chosen)


def _try(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.trial import try_program

    return try_program(chosen)


def _fleet(chosen: Namespace) -> int:
    from tb_slowdown_plugin.cli.fleet import fleet

    return fleet(chosen)


_COMMANDS: Final[dict[str, Callable[[Namespace], int]]] = {
    "report": _report,
    "compare": _compare,
    "share": _share,
    "demo": _demo,
    "trace": _trace,
    "fix": _fix,
    "watch": _watch,
    "try": _try,
    "fleet": _fleet,
}

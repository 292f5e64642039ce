"""The flags of `tbslow fleet`."""

from __future__ import annotations

import argparse
import re
from typing import Final

from tb_slowdown_plugin.errors import InputError

FLEET_DOES: Final = "analyze all runs below some logdirs, and add up what they lost"

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LEAST_BYTES: Final = 256 << 20
"""A worker that has read nothing takes 100 MB, and 150 MB with what reads object stores."""


def add_fleet(fleet: argparse.ArgumentParser) -> None:
    """Adds them."""
    fleet.add_argument(
        "logdirs",
        metavar="LOGDIR",
        nargs="+",
        help="a directory above any number of runs, or an address that fsspec opens, such as "
        "gs://bucket/logs, s3://bucket/logs, or hdfs://host/logs",
    )
    fleet.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the runs to FILE.parquet and their causes to FILE.causes.parquet",
    )
    fleet.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="judge on the workers of this Dask scheduler, such as tcp://host:8786 "
        "(default: on processes of this machine)",
    )
    fleet.add_argument(
        "--workers", metavar="N", type=_workers, help="processes (default: one per core)"
    )
    fleet.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=memory_size,
        default=1 << 30,
        help="what a worker may use, such as 512M (default: 1G, at least 256M); of longer runs "
        "several steps are one row",
    )
    fleet.add_argument(
        "--since",
        metavar="DATE",
        help="only runs that were written to since then, such as 2026-11-01 (UTC)",
    )
    fleet.add_argument(
        "--team",
        metavar="REGEX",
        type=_team,
        help="what finds the team in the name of a run (default: the first part of the name)",
    )
    fleet.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="of the summary on stdout: text for people, json for scripts, html for a page",
    )


def memory_size(text: str) -> int:
    """Bytes of a size.

    >>> memory_size("512M"), memory_size("1.5G"), memory_size("300MiB")
    (536870912, 1610612736, 314572800)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    try:
        number = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    except ValueError:
        number = 0.0
    if number < _LEAST_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a size of 256M or more, such as 512M")
    return int(number)


def _workers(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of processes")
    return int(text)


def _team(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InputError(f"--team {text!r}: {error}; give a regular expression") from error

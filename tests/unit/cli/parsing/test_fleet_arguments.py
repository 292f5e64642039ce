"""The flags of `tbslow fleet`: sizes, numbers, and what is no size."""

from __future__ import annotations

import argparse

import pytest

from tb_slowdown_plugin.cli.parsing.arguments import parse
from tb_slowdown_plugin.cli.parsing.fleet_arguments import memory_size
from tb_slowdown_plugin.errors import InputError


def test_all_flags() -> None:
    chosen = parse(
        ["fleet", "a", "s3://b", "-o", "f.parquet", "--workers", "3", "--memory-limit", "300MB"]
    )
    assert chosen.logdirs == ["a", "s3://b"]
    assert (chosen.output, chosen.workers, chosen.memory_limit) == ("f.parquet", 3, 300 << 20)
    assert parse(["fleet", "a"]).memory_limit == 1 << 30


@pytest.mark.parametrize("text", ["", "much", "100M", "1.2.3G", "-1G"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="isn't a size of 256M or more"):
        memory_size(text)


@pytest.mark.parametrize("text", ["0", "two", "-1"])
def test_what_is_no_number_of_processes(text: str) -> None:
    with pytest.raises(InputError, match="isn't a number of processes"):
        parse(["fleet", "a", f"--workers={text}"])

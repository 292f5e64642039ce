"""Advice for writing that makes steps slower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    fewer_summaries,
    keep_few,
    new,
    old,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.report_types.causes import Advice

_TENSORFLOW: Final = frozenset({"CheckpointManager", "tf.train.Checkpoint"})


@dataclass(frozen=True, slots=True)
class Writing:
    """What the record says of writing."""

    program: Program
    grows: bool = False
    """A step writes more and more."""
    full: bool = False
    """Little of the disk is free."""


def _fills_with_checkpoints(writing: Writing) -> bool:
    return writing.program.saves and writing.full


def _grows(writing: Writing) -> bool:
    return writing.grows


def _is_full(writing: Writing) -> bool:
    return writing.full


def _saves(writing: Writing) -> bool:
    return writing.program.saves


def _saves_checkpoints(writing: Writing) -> bool:
    """By TensorFlow's manager, which keeps all, or nobody knows by what."""
    if writing.program.keeps_few:
        return False
    savers = writing.program.savers
    return writing.program.saves and (not savers or not savers.isdisjoint(_TENSORFLOW))


def _writes_summaries(writing: Writing) -> bool:
    return writing.program.summaries


def append() -> Advice:
    """Only what is new."""
    return Advice(
        "Append what is new instead of writing everything again.",
        snippet(
            old('with open(path, "wb") as file:', "    file.writelines(written)"),
            new('with open(path, "ab") as file:', "    file.write(block)"),
        ),
        "What has been written is not changed afterwards; delete the file before a new run.",
        "find where the step opens a file for writing",
    )


def delete_old_checkpoints() -> Advice:
    """With care."""
    return Advice(
        "Delete checkpoints that earlier runs have left, all but the newest three. Look at the "
        "list first: remove `dry_run` only when you need none of them.",
        snippet(
            new(
                "dry_run = True",
                'found = sorted(pathlib.Path("ckpt").glob("ckpt-*.index"),',
                "               key=lambda path: path.stat().st_mtime)",
                "for index in found[:-3]:",
                '    for file in index.parent.glob(f"{index.stem}.*"):',
                '        print("would delete" if dry_run else "deletes", file)',
                "        if not dry_run:",
                "            file.unlink()",
            )
        ),
        "Deleted states can't be brought back. `tf.train.CheckpointManager` deletes its own "
        "(`max_to_keep`); do not run this beside it.",
        "a program of its own",
    )


def delete_temporary_files() -> Advice:
    """A directory that goes by itself."""
    return Advice(
        "Put temporary files into a directory that is deleted by itself, also when the step fails.",
        snippet(
            old("folder = tempfile.mkdtemp()", "write_parts(folder)"),
            new("with tempfile.TemporaryDirectory() as folder:", "    write_parts(folder)"),
        ),
        "Nothing of them is left to look at afterwards.",
        "find `tempfile.mkdtemp` or files in `/tmp`",
    )


def local_disk() -> Advice:
    """Not over the network while training waits."""
    return Advice(
        "Write to a local disk, and copy to the shared one when the save is done: another thread "
        "copies while training goes on.",
        snippet(
            same("path = manager.save()"),
            new("pool.submit(shutil.copytree, manager.directory, shared, dirs_exist_ok=True)"),
        ),
        "Space on the local disk. Before the loop: "
        "`pool = concurrent.futures.ThreadPoolExecutor(1)`; at its end `pool.shutdown()` waits for "
        "the last copy.",
        "find `manager.save()`",
    )


OFFERS: Final = (
    Offer(plain(append), when=_grows),
    Offer(plain(local_disk), when=_saves),
    Offer(plain(keep_few), when=_saves_checkpoints),
    Offer(plain(fewer_summaries), when=_writes_summaries),
    Offer(plain(delete_old_checkpoints), when=_fills_with_checkpoints),
    Offer(plain(delete_temporary_files), when=_is_full),
)


def advise(writing: Writing) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, writing)


EXAMPLES: Final = (Writing(Program(saves=True, summaries=True), grows=True, full=True),)
"""Evidence for its page in the documentation."""

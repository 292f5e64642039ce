"""Advice for writing that gets slow, and for disks that fill."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.callbacks import fewer_summaries
from tb_slowdown_plugin.analysis.advice.checkpointing import keep_few
from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(
    *, grows: bool = False, summaries: bool = True, saves: bool = True
) -> tuple[Advice, ...]:
    """What to change.

    Args:
      grows: a step writes more and more.
      summaries: the run writes summaries.
      saves: the run saves checkpoints.
    """
    found = [append()] if grows else []
    if saves:
        found += [local_disk(), keep_few()]
    if summaries:
        found.append(fewer_summaries())
    if saves:
        found.append(delete_old_checkpoints())
    return (*found, delete_temporary_files())


def append() -> Advice:
    """Only what is new."""
    return Advice(
        "Append what is new instead of writing everything again.",
        snippet(
            old('with open(path, "wb") as file:', "    file.writelines(written)"),
            new('with open(path, "ab") as file:', "    file.write(block)"),
        ),
        "What has been written is not changed afterwards; delete the file before a new run.",
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
    )

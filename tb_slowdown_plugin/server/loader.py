"""The entry point that TensorBoard imports at each start.

TensorBoard imports this module unguarded, so an error here would stop it: nothing
is imported but TensorBoard's own base class. An error in `load` only hides the tab.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import Any

from tensorboard.plugins import base_plugin

from tb_slowdown_plugin.records.metadata import PLUGIN_NAME

_KEEP_ALL = 0
_CACHE_VARIABLE = "TBSLOW_CACHE_DIR"


class SlowdownLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the plugin when TensorBoard has parsed its flags."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Our flags; `server/origin.py` and `server/all_runs` say what they are for."""
        group = parser.add_argument_group("slowdown plugin")
        with contextlib.suppress(argparse.ArgumentError):  # installed twice: the first one counts
            group.add_argument(
                "--slowdown_hosts",
                metavar="NAMES",
                default="",
                help="Names, with commas between them, under which browsers reach this TensorBoard "
                "besides localhost and its addresses; requests for others are refused then.",
            )
        with contextlib.suppress(argparse.ArgumentError):
            group.add_argument(
                "--slowdown_cache_dir",
                metavar="DIR",
                default="",
                help="Directory in which the verdicts of the list of all runs are kept, so that a "
                f"second start need not judge them again; by default that of {_CACHE_VARIABLE}, "
                "and without it none.",
            )

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Keep each of our records; what the user says in `--samples_per_plugin` wins."""
        samples = getattr(flags, "samples_per_plugin", None)
        if isinstance(samples, dict):
            samples.setdefault(PLUGIN_NAME, _KEEP_ALL)

    def load(self, context: Any) -> Any:
        """The plugin, for a `base_plugin.TBContext` with a data provider, a logdir and flags."""
        from tb_slowdown_plugin.analysis.live.follow import follow
        from tb_slowdown_plugin.reader.run_store import RunStore
        from tb_slowdown_plugin.server.all_runs.kept_rows import KeptRows
        from tb_slowdown_plugin.server.all_runs.verdicts import Verdicts
        from tb_slowdown_plugin.server.origin import names_of
        from tb_slowdown_plugin.server.plugin import SlowdownPlugin
        from tb_slowdown_plugin.server.runs import Runs

        logdir = context.logdir
        store = RunStore(context.data_provider, logdir)
        cache = getattr(context.flags, "slowdown_cache_dir", "") or os.environ.get(_CACHE_VARIABLE)
        verdicts = Verdicts(
            store.unjudged,
            logdir=logdir,
            kept=KeptRows(Path(cache).expanduser(), logdir) if cache and logdir else None,
            hyperparameters=store.hyperparameters,
        )
        runs = Runs(store, follow, logdir=logdir, verdicts=verdicts)
        return SlowdownPlugin(runs, hosts=names_of(context.flags))

"""The entry point that TensorBoard imports at each start.

TensorBoard imports this module unguarded, so an error here would stop it: nothing
is imported but TensorBoard's own base class. An error in `load` only hides the tab.
"""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from tensorboard.plugins import base_plugin

from tb_slowdown_plugin.records.metadata import PLUGIN_NAME

_KEEP_ALL = 0


class SlowdownLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the plugin when TensorBoard has parsed its flags."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """The one flag of ours; `server/origin.py` says what it is for."""
        group = parser.add_argument_group("slowdown plugin")
        with contextlib.suppress(argparse.ArgumentError):  # installed twice: the first one counts
            group.add_argument(
                "--slowdown_hosts",
                metavar="NAMES",
                default="",
                help="Names, with commas between them, under which browsers reach this TensorBoard "
                "besides localhost and its addresses; requests for others are refused then.",
            )

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Keep each of our records; what the user says in `--samples_per_plugin` wins."""
        samples = getattr(flags, "samples_per_plugin", None)
        if isinstance(samples, dict):
            samples.setdefault(PLUGIN_NAME, _KEEP_ALL)

    def load(self, context: Any) -> Any:
        """The plugin, for a `base_plugin.TBContext` with a data provider, a logdir and flags."""
        from tb_slowdown_plugin.analysis.live.follow import follow
        from tb_slowdown_plugin.reader.run_store import Catalogue
        from tb_slowdown_plugin.server.origin import names_of
        from tb_slowdown_plugin.server.plugin import SlowdownPlugin
        from tb_slowdown_plugin.server.runs import Runs

        catalogue = Catalogue(context.data_provider, context.logdir)
        hosts = names_of(context.flags)
        return SlowdownPlugin(Runs(catalogue, follow, logdir=context.logdir), hosts=hosts)

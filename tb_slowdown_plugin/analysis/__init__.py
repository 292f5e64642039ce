"""Pure analysis: arrays in, findings out.

The flow: `report_builder.account_for` calls all stages, in the order of docs/architecture.md;
`diagnose.diagnose` is the part that knows arrays alone, for anybody's use.
"""

from tb_slowdown_plugin.analysis.diagnose import diagnose

__all__ = ["diagnose"]

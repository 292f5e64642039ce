"""Pure analysis: arrays in, findings out.

The flow: `account_for` in `report_builder/` calls all stages, in the order of
docs/architecture.md; `diagnose.diagnose` is the part that knows arrays alone, for anybody's use.
"""

from tb_slowdown_plugin.analysis.diagnose import diagnose

__all__ = ["diagnose"]

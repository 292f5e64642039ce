"""Pure analysis: arrays in, findings out."""

from tb_slowdown_plugin.analysis.diagnose import diagnose

__all__ = ["diagnose"]

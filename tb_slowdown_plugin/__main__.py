"""The command `tbslow`, also `python -m tb_slowdown_plugin`."""

from __future__ import annotations

import sys

from tb_slowdown_plugin.cli.command import main

if __name__ == "__main__":
    sys.exit(main())

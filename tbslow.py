"""The short import: `import tbslow` is `tb_slowdown_plugin`.

`tbslow.summary` and `tbslow.keras` are the same module objects as those of
`tb_slowdown_plugin`, so there is one state, whatever a program imports.
"""

import sys

from tb_slowdown_plugin import (
    Monitor,
    UsageError,
    __version__,
    data,
    keras,
    start,
    stop,
    summary,
)

__all__ = ["Monitor", "UsageError", "__version__", "data", "keras", "start", "stop", "summary"]

# Lets `from tbslow.summary import step` and `import tbslow.keras` find them.
__path__: list[str] = []
sys.modules[f"{__name__}.summary"] = summary
sys.modules[f"{__name__}.keras"] = keras

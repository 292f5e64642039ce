"""Why TensorFlow training gets slower, told in TensorBoard.

A custom training loop says where its steps are; all else is found out:

    import tbslow

    with tbslow.start("logs/run1"):
        for epoch in range(3):
            for batch in tbslow.data(dataset):
                with tbslow.summary.step(items=len(batch)):
                    loss = train_step(batch)
            with tbslow.summary.phase("checkpoint"):
                checkpoint.save("checkpoints/model")

With Keras it is a callback, `tbslow.keras.SlowdownCallback("logs/run1")`, and
where a `tf.summary` writer is the default, `tbslow.summary.step()` writes to it.
`tensorboard --logdir logs` then has a tab "Slowdown", and `tbslow report logs`
prints the same. `tbslow` and `tb_slowdown_plugin` are two names of one thing.

Inside, data flow one way: `writer` runs `collectors` in the training and writes `records`; `reader`
reads them, `analysis` finds causes, and `server`, `report`, and `cli` show these. `catalog` names
causes, accounts, and signals for all; `profiler` reads traces; `jobs` watches runs, reads many at
once, and tries changes of a program; `static` is the page as it was built. `summary.py`,
`keras.py`, and `errors.py` hold public names.
`docs/architecture.md` follows a signal from its hook to the page.

This module imports nothing until a name is used: TensorBoard imports it
unguarded, and often where TensorFlow is not installed.
"""

from __future__ import annotations

import importlib

from tb_slowdown_plugin._version import __version__

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms of the start of `tbslow run`
if TYPE_CHECKING:
    from typing import Any

    from tb_slowdown_plugin import keras, summary
    from tb_slowdown_plugin.errors import UsageError as UsageError
    from tb_slowdown_plugin.writer.data import data
    from tb_slowdown_plugin.writer.monitor import Monitor as Monitor
    from tb_slowdown_plugin.writer.monitor import start as start
    from tb_slowdown_plugin.writer.monitor import stop as stop
    from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import SlowdownEvent as SlowdownEvent

__all__ = [
    "Monitor",
    "SlowdownEvent",
    "UsageError",
    "__version__",
    "data",
    "keras",
    "start",
    "stop",
    "summary",
]

_HOMES = {
    "Monitor": "writer.monitor",
    "SlowdownEvent": "writer.on_slowdown.slowdown_event",
    "UsageError": "errors",
    "data": "writer.data",
    "start": "writer.monitor",
    "stop": "writer.monitor",
}


def __getattr__(name: str) -> Any:
    if name in ("keras", "summary"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)

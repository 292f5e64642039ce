"""What Python imports before a program of `tbslow run`, in place of the user's own sitecustomize.

It takes itself off the path and out of the environment, so that neither the program nor its
children find a trace of it, then imports the user's own.
"""

import os
import sys

_HERE = os.path.abspath(f"{__file__}/..")  # noqa: PTH100 - pathlib takes 10 ms to import
_ROOT = os.path.abspath(f"{_HERE}/../../../..")  # noqa: PTH100


def _leave() -> None:
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    before = os.environ.pop("TBSLOW_RUN_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before


def _begin() -> None:
    sys.path.insert(0, _ROOT)  # the package may be where the program does not find it
    try:
        from tb_slowdown_plugin.writer.launch import end_report, import_watch, settings

        chosen = settings.take_from(os.environ)
        import_watch.install(chosen)
        end_report.at_exit(chosen)
    finally:
        sys.path.remove(_ROOT)


def _import_own() -> None:
    """As `site` would have: the module of this name that is next on the path."""
    sys.modules.pop("sitecustomize", None)
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401


if "TBSLOW_RUN_LOGDIR" in os.environ:
    _leave()
    _begin()
    _import_own()  # where there is none, this error is what `site` expects

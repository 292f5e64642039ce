"""tcmalloc is preloaded where it is installed."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.jobs.preloading import preload_tcmalloc


@pytest.mark.parametrize(
    ("installed", "before", "after"),
    [
        (("tcmalloc_minimal", "tcmalloc"), {}, {"LD_PRELOAD": "lib-tcmalloc_minimal"}),
        (("tcmalloc",), {}, {"LD_PRELOAD": "lib-tcmalloc"}),
        (("tcmalloc",), {"LD_PRELOAD": "a.so"}, {"LD_PRELOAD": "lib-tcmalloc:a.so"}),
        (("tcmalloc",), {"LD_PRELOAD": ""}, {"LD_PRELOAD": "lib-tcmalloc"}),
        ((), {"LD_PRELOAD": "a.so"}, {"LD_PRELOAD": "a.so"}),
    ],
)
def test_it_is_before_what_is_preloaded_already(
    installed: tuple[str, ...], before: dict[str, str], after: dict[str, str]
) -> None:
    given = {"HOME": "/root", **before}
    found = preload_tcmalloc(given, lambda name: f"lib-{name}" if name in installed else None)
    assert found == {"HOME": "/root", **after}
    assert given == {"HOME": "/root", **before}

"""The two import names are one package, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "google.protobuf", "tensorboard", "tensorflow", "keras")


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, tb_slowdown_plugin; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_importing_tbslow_imports_neither_tensorflow_nor_keras():
    code = (
        "import sys, tbslow, tbslow.keras; from tbslow.summary import step; "
        "print([name for name in ('tensorflow', 'keras') if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_both_names_share_one_state():
    code = (
        "import tbslow, tbslow.keras, tbslow.summary, tb_slowdown_plugin as full; "
        "import tb_slowdown_plugin.summary as s; "
        "from tbslow.summary import step; "
        "print(tbslow.summary is full.summary is s, step is s.step, tbslow.keras is full.keras, "
        "tbslow.start is full.start, tbslow.__version__ == full.__version__)"
    )
    assert run(code) == "True True True True True"


def test_every_public_name_is_there():
    import tb_slowdown_plugin

    for name in tb_slowdown_plugin.__all__:
        assert getattr(tb_slowdown_plugin, name) is not None
    assert dir(tb_slowdown_plugin) == tb_slowdown_plugin.__all__


def test_an_unknown_name_is_an_attribute_error():
    import tb_slowdown_plugin
    import tb_slowdown_plugin.keras as slow_keras

    with pytest.raises(AttributeError, match="no attribute 'begin'"):
        _ = tb_slowdown_plugin.begin
    with pytest.raises(AttributeError, match="no attribute 'Callback'"):
        _ = slow_keras.Callback

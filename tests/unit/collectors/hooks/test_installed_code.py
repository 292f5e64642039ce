"""The line that a place names is the user's, not one of a library between it and TensorFlow."""

from __future__ import annotations

import importlib
import json
import sys
import sysconfig
import textwrap

import pytest

from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line, is_installed

HERE = __file__


def install(folder, name, *, metadata):
    """A package with a function that calls what it is given, in a directory of the path."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(
        textwrap.dedent(
            """
            def patched(original):
                return original()
            """
        )
    )
    if metadata:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(f"{name}/__init__.py,sha256=x,9\n")


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    folder = tmp_path / request.param[0]
    name = f"patches_{abs(hash(request.node.name))}"
    install(folder, name, metadata=request.param[1])
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module(name)
    del sys.modules[name]


INSTALLED = pytest.mark.parametrize(
    "package",
    [("lib/site-packages", False), ("lib/dist-packages", False), ("target", True)],
    indirect=True,
)


@INSTALLED
def test_the_users_line_is_told_where_an_installed_package_calls_for_it(package):
    def train():
        return package.patched(lambda: None) or package.patched(look)

    def look():
        return calling_line(sys._getframe(1))

    assert train() == (HERE, train.__code__.co_firstlineno + 1)


@INSTALLED
def test_without_any_line_of_the_users_it_is_the_outermost_of_a_package(package):
    seen = []

    def look(frame, event, argument):
        if frame.f_code.co_name == "patched" and event == "call":
            seen.append(frame)

    sys.setprofile(look)
    try:
        package.patched(int)
    finally:
        sys.setprofile(None)
    assert is_installed(seen[0].f_code.co_filename)


@pytest.mark.parametrize("package", [("project", False)], indirect=True)
def test_a_directory_of_the_path_without_metadata_is_the_users(package):
    assert not is_installed(package.__file__)


def test_a_project_beside_packages_that_were_installed_to_a_target_is_the_users(
    tmp_path, monkeypatch
):
    install(tmp_path, "someone_elses", metadata=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert is_installed(str(tmp_path / "someone_elses" / "deep" / "module.py"))
    assert not is_installed(str(tmp_path / "train.py"))
    assert not is_installed(str(tmp_path / "mine" / "model.py"))


@pytest.mark.parametrize(
    ("file", "installed"),
    [
        (json.__file__, True),
        (sysconfig.get_path("scripts") + "/pytest", True),
        ("<frozen runpy>", True),
        ("<stdin>", False),
        ("/tmp/ipykernel_12/34.py", False),
        (HERE, False),
    ],
)
def test_which_code_is_installed(file, installed):
    assert is_installed(file) is installed


def test_a_function_that_autograph_wrote_is_not_the_users_file():
    code = compile(
        "def converted(look):\n    return look()",
        "/tmp/__autograph_generated_filezis26gvn.py",
        "exec",
    )
    names = {}
    exec(code, names)

    def look():
        return calling_line(sys._getframe(1))

    here = test_a_function_that_autograph_wrote_is_not_the_users_file.__code__.co_firstlineno
    assert names["converted"](look) == (HERE, here + 13)

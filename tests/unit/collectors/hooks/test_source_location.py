"""Places are relative to something that is not private, and functions are found under wrappers."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.collectors.hooks.source_location import (
    SourcePlaces,
    closure_of,
    code_of,
    line_of,
    line_of_definition,
    name_of,
    number_cells_anew,
    unwrap,
)

HOME = "/home/ann"


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", HOME)


def places(working_directory: str = f"{HOME}/project", *import_path: str) -> SourcePlaces:
    return SourcePlaces(working_directory, import_path)


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (f"{HOME}/project/train.py", "train.py"),
        (f"{HOME}/project/models/net.py", "models/net.py"),
        (f"{HOME}/project/.venv/lib/python3.11/site-packages/keras/src/a.py", "keras/src/a.py"),
        ("/usr/lib/python3/dist-packages/six.py", "six.py"),
        (f"{HOME}/project/runs/../models/net.py", "models/net.py"),
        (f"{HOME}/project/../other/train.py", "train.py"),
        (f"{HOME}/other/secret/train.py", "train.py"),
        ("train.py", "train.py"),
        ("models/net.py", "models/net.py"),
        (f"../{HOME}/net.py", "net.py"),
        ("<stdin>", "<stdin>"),
        ("/tmp/ipykernel_123/456.py", "<notebook>"),
        ("<ipython-input-3-abc>", "<In[3]>"),
    ],
)
def test_no_place_is_absolute(file, shown):
    assert places().at(file, 41) == f"{shown}:41"


def test_cells_of_a_notebook_have_the_numbers_that_its_tracebacks_show(monkeypatch):
    numbers = {"/tmp/ipykernel_7/11.py": 3, "/tmp/ipykernel_7/22.py": 5}

    def format_code_name(file):
        return ("Cell", f"In[{numbers[file]}]") if file in numbers else None

    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=format_code_name))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    number_cells_anew()
    here = SourcePlaces.of_process()
    assert here.at("/tmp/ipykernel_7/11.py", 2) == "<In[3]>:2"
    assert here.at("/tmp/ipykernel_7/22.py", 2) == "<In[5]>:2"
    assert here.at("/tmp/ipykernel_7/33.py", 2) == "<notebook>:2"
    numbers["/tmp/ipykernel_7/11.py"] = 9  # it ran again
    assert here.at("/tmp/ipykernel_7/11.py", 2) == "<In[3]>:2"
    assert SourcePlaces.of_process().at("/tmp/ipykernel_7/11.py", 2) == "<In[3]>:2"
    number_cells_anew()
    assert here.at("/tmp/ipykernel_7/11.py", 2) == "<In[9]>:2"


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_without_a_shell_that_knows_its_cells_they_have_no_numbers(monkeypatch, shell):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert SourcePlaces.of_process().at("/tmp/ipykernel_8/11.py", 2) == "<notebook>:2"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())  # imported by half
    assert SourcePlaces.of_process().at("/tmp/ipykernel_8/12.py", 2) == "<notebook>:2"


def test_a_file_elsewhere_is_relative_to_the_import_path():
    found = places(f"{HOME}/project", "/opt/code", "/opt/code/team")
    assert found.shorten("/opt/code/team/nets/big.py") == "nets/big.py"


def test_a_module_of_a_package_on_no_import_path_is_named_with_its_package(tmp_path):
    inner = tmp_path / "checkout" / "package" / "nets"
    inner.mkdir(parents=True)
    (inner / "__init__.py").touch()
    (inner.parent / "__init__.py").touch()
    assert places().shorten(str(inner / "big.py")) == "package/nets/big.py"
    assert places().shorten(str(inner.parent.parent / "train.py")) == "train.py"


@pytest.mark.parametrize("working_directory", ["/", "/home", "", "relative"])
def test_a_working_directory_above_the_home_does_not_show_user_names(working_directory):
    assert places(working_directory).shorten(f"{HOME}/project/train.py") == "train.py"
    assert places(working_directory, "/home").shorten("/home/bob/train.py") == "train.py"


def test_the_home_itself_may_be_the_working_directory():
    assert places(HOME).shorten(f"{HOME}/project/train.py") == "project/train.py"


def test_the_places_of_this_process(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert SourcePlaces.of_process().shorten(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert SourcePlaces.of_process().shorten(os.__file__) == "os.py"


def test_a_deleted_working_directory_is_no_error(monkeypatch):
    def gone():
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", gone)
    assert SourcePlaces.of_process().working_directory == ""


def plain():
    return None


class Model:
    def step(self):
        return None

    def __call__(self):
        return None


def decorated(function):
    @functools.wraps(function)
    def wrapper():
        return function()

    return wrapper


@pytest.mark.parametrize(
    ("function", "inner", "name"),
    [
        (plain, plain, "plain"),
        (Model().step, Model.step, "Model.step"),
        (functools.partial(functools.partial(plain)), plain, "plain"),
        (decorated(decorated(plain)), plain, "plain"),
        (Model(), Model.__call__, "Model.__call__"),
    ],
)
def test_the_function_that_the_user_wrote_is_found(function, inner, name):
    assert unwrap(function) is inner
    assert code_of(function) is inner.__code__
    assert name_of(function) == name


def test_a_decorator_that_wraps_itself_ends():
    def loop():
        return None

    loop.__wrapped__ = loop
    assert unwrap(loop) is loop


def test_what_is_not_written_in_python_has_no_code():
    assert code_of(len) is None
    assert name_of(len) == "len"
    assert code_of(3) is None


def test_a_name_goes_without_the_functions_around_it():
    def make():
        def step():
            return None

        return step, lambda: None

    step, unnamed = make()
    assert name_of(step) == "step"
    assert name_of(unnamed) == "make.<lambda>"


def test_a_closure_shows_what_it_holds_and_skips_what_is_not_there_yet():
    def outer():
        held = 3

        def inner():
            return held, later

        found = closure_of(inner)
        later = 4
        return found, closure_of(inner)

    assert outer() == ({"held": 3}, {"held": 3, "later": 4})
    assert closure_of(len) == {}
    assert closure_of(plain) == {}


def test_import_roots_of_this_process_are_no_home(monkeypatch):
    """The files of this package are found through the import path, not by where they lie."""
    root = str(Path(sys.modules["tb_slowdown_plugin"].__file__).parents[1])
    found = SourcePlaces("/nowhere/else", (root,))
    assert found.shorten(f"{root}/tb_slowdown_plugin/errors.py") == "tb_slowdown_plugin/errors.py"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name")
def test_a_comprehension_is_a_line_of_the_function_around_it():
    class Replay:
        def sample(self, read):
            return next(read() for _ in [0])

        def sort(self, read):
            return (lambda: [read()])()

    def read():
        return sys._getframe(1).f_code

    places = SourcePlaces("/home/ann/project", ())
    names = [
        places.in_code(code, 7).partition(" (")[0]
        for code in (Replay().sample(read), Replay().sort(read)[0])
    ]
    assert names == ["Replay.sample", "<lambda>"]


def test_a_frame_between_two_lines_is_at_its_function():
    def spin(values):
        while values:
            values.pop()

    code = spin.__code__
    between = SimpleNamespace(f_code=code, f_lineno=None)
    assert line_of(between) == code.co_firstlineno
    assert line_of(sys._getframe()) > code.co_firstlineno


def test_a_decorated_function_is_at_its_def():
    def keep(**_):
        return lambda function: function

    @keep(
        of=1,
    )
    @keep()
    def plain():
        pass

    @keep()
    async def later():
        pass

    bare = (lambda: None).__code__
    first = plain.__code__.co_firstlineno
    assert line_of_definition(plain.__code__) == first + 4
    assert line_of_definition(later.__code__) == later.__code__.co_firstlineno + 1
    assert line_of_definition(bare) == bare.co_firstlineno
    gone = plain.__code__.replace(co_filename="<gone>")
    assert line_of_definition(gone) == first

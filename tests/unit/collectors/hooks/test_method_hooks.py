"""Hooked functions: the same from outside, and their own again afterwards."""

import functools
import inspect
import sys
import traceback

import pytest
from unit.collectors.hooked import hooked_by, may_be_hooked

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks


class Base:
    def __init__(self):
        self.made = True


def traced(function):
    @functools.wraps(function)
    def handler(*args, **kwargs):
        return function(*args, **kwargs)

    return handler


class Library(Base):
    def __init__(self, a, b=2, /, c=3, *args, d, e=5, **others):
        """Makes one."""
        super().__init__()
        self.given = (a, b, c, args, d, e, others)

    @staticmethod
    def static(x=1):
        return x

    @classmethod
    def of_class(cls, x=1):
        return cls, x

    @property
    def proper(self):
        return 7

    @traced
    def decorated(self, x):
        return x

    def fail(self, x):
        raise ValueError(x)


NAMES = ("__init__", "static", "of_class", "proper", "decorated", "fail")


@pytest.fixture(autouse=True)
def _hookable(monkeypatch):
    may_be_hooked(monkeypatch, __name__)
    yield
    assert hooked_by("test") == []


def counted(calls, name):
    def wrap(original):
        def call(*args, **kwargs):
            calls.append(name)
            return original(*args, **kwargs)

        return call

    return wrap


def hook_all(hooks, calls):
    for name in NAMES:
        hooks.replace(Library, name, counted(calls, name))


def seen():
    """All that is seen of the functions from outside."""
    found = {}
    for name in NAMES:
        descriptor = vars(Library)[name]
        function = getattr(descriptor, "__func__", None) or getattr(descriptor, "fget", descriptor)
        found[name] = (
            descriptor,
            function,
            inspect.signature(function),
            inspect.getsource(function),
            inspect.getfullargspec(function),
            vars(function).copy(),
            [getattr(function, each) for each in ("__name__", "__qualname__", "__module__")],
            function.__doc__,
            function.__defaults__,
            function.__kwdefaults__,
            function.__closure__,
            function.__code__.co_filename,
        )
    return found


def test_functions_look_as_before_and_do_what_they_did():
    before, calls = seen(), []
    codes = [vars(Library)[name] for name in ("__init__", "fail")]
    codes = [function.__code__ for function in codes]
    hooks = MethodHooks("test", pytest.fail)
    hook_all(hooks, calls)
    assert seen() == before
    made = Library(1, 2, 4, 8, d=5, f=6)
    assert (made.made, made.given) == (True, (1, 2, 4, (8,), 5, 5, {"f": 6}))
    assert Library(1, d=0).given == (1, 2, 3, (), 0, 5, {})
    assert (made.static(), Library.static(3), made.of_class(4)) == (1, 3, (Library, 4))
    assert (made.proper, made.decorated(9), made.decorated(x=8)) == (7, 9, 8)
    assert calls == [
        *["__init__", "__init__", "static", "static"],
        *["of_class", "proper", "decorated", "decorated"],
    ]
    hooks.remove()
    assert seen() == before
    assert [Library.__init__.__code__, Library.fail.__code__] == codes
    calls.clear()
    assert made.static() == 1
    assert calls == []


def test_the_owner_s_function_is_hooked_and_a_subclass_of_the_program_s_is_left_alone():
    class Mine(Library):
        def fail(self, x):
            return super().fail(x)

    mine, calls, hooks = vars(Mine)["fail"].__code__, [], MethodHooks("test", pytest.fail)
    hooks.replace(Mine, "decorated", counted(calls, "decorated"))
    assert hooked_by("test") == [f"{__name__}.Library.decorated"]
    assert "decorated" not in vars(Mine)
    assert Mine.decorated is Library.decorated
    assert vars(Mine)["fail"].__code__ is mine
    hooks.remove()


def test_a_program_s_own_function_is_never_hooked(monkeypatch):
    monkeypatch.undo()  # this module is a program's now
    hooks = MethodHooks("test", pytest.fail)
    with pytest.raises(Unavailable, match="Library has no function fail"):
        hooks.replace(Library, "fail", lambda original: original)
    with pytest.raises(Unavailable, match="no function append"):
        hooks.replace(list, "append", lambda original: original)


def test_under_a_program_s_wrapper_the_library_s_function_is_hooked(monkeypatch):
    keras = pytest.importorskip("keras")
    before = keras.Model.to_json
    monkeypatch.undo()

    @functools.wraps(before)
    def theirs(model, **kwargs):
        return before(model, **kwargs)

    monkeypatch.setattr(keras.Model, "to_json", theirs)
    calls, hooks = [], MethodHooks("test", pytest.fail)
    hooks.replace(keras.Model, "to_json", counted(calls, "to_json"))
    code = theirs.__code__
    model = keras.Sequential()
    assert model.to_json() == theirs(model)
    assert calls == ["to_json"] * 2
    hooks.remove()
    assert theirs.__code__ is code


@pytest.mark.parametrize("first", [0, 1])
def test_hooks_of_one_function_come_and_go_in_any_order(first):
    calls, hooks = [], [MethodHooks("one", pytest.fail), MethodHooks("two", pytest.fail)]
    code = vars(Library)["static"].__func__.__code__
    for each, name in zip(hooks, ("one", "two"), strict=True):
        each.replace(Library, "static", counted(calls, name))
    assert Library.static(2) == 2
    assert calls == ["two", "one"]
    calls.clear()
    hooks[first].remove()
    assert Library.static(2) == 2
    assert calls == [("two", "one")[first]]
    hooks[1 - first].remove()
    assert vars(Library)["static"].__func__.__code__ is code


def test_what_somebody_puts_over_it_stays_and_works(monkeypatch):
    calls, hooks = [], MethodHooks("test", pytest.fail)
    for _ in range(2):
        hooks.replace(Library, "decorated", counted(calls, "ours"))
        monkeypatch.setattr(Library, "decorated", counted(calls, "theirs")(Library.decorated))
        theirs = Library.decorated
        hooks.remove()
        assert Library.decorated is theirs
        assert Library(1, d=0).decorated(3) == 3
        assert "ours" not in calls
        monkeypatch.undo()
        may_be_hooked(monkeypatch, __name__)


def test_code_that_somebody_exchanges_meanwhile_stays():
    hooks = MethodHooks("test", pytest.fail)
    own = Library.fail.__code__
    hooks.replace(Library, "fail", lambda original: original)
    Library.fail.__code__ = theirs = (lambda self, x: x).__code__
    hooks.remove()
    assert Library.fail.__code__ is theirs
    Library.fail.__code__ = own


def test_a_traceback_shows_no_hook():
    hooks = MethodHooks("test", pytest.fail)
    hooks.replace(Library, "fail", passed_on)
    with pytest.raises(ValueError, match="x") as raised:
        Library.fail(None, "x")
    hooks.remove()
    functions = [frame.name for frame in traceback.extract_tb(raised.tb)]
    mine = "test_a_traceback_shows_no_hook"
    assert functions == ([mine, "fail"] if sys.version_info >= (3, 11) else [mine, "fail", "fail"])


def test_a_traceback_of_a_hook_that_fails_is_whole():
    hooks = MethodHooks("test", pytest.fail)
    hooks.replace(Library, "fail", lambda _: None)
    with pytest.raises(TypeError) as raised:
        Library.fail(None, "x")
    hooks.remove()
    assert [frame.name for frame in traceback.extract_tb(raised.tb)][-1] == "fail"


def passed_on(original):
    """A hook that is written in the plugin."""
    source = "def call(*args): return original(*args)"
    names = {"original": original, "__name__": "tb_slowdown_plugin.collectors.example"}
    exec(source, names)
    return names["call"]

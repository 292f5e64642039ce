"""Functions with hooks in them: what they do, and what is seen of it."""

from __future__ import annotations

import inspect
import linecache
import traceback
import warnings

import pytest
from unit.collectors.hooked import may_be_hooked

from tb_slowdown_plugin.collectors.hooks import surrounded_code
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks


class Base:
    def __init__(self, x):
        self.x = x


class Library(Base):
    """With functions of each form."""

    def __init__(self, a, b=2, /, c=3, *args, d, e=5, **others):
        """Makes one."""
        super().__init__(c)
        self.__hidden = (a, b, args, d, e, others)

    def hidden(self):
        return self.__hidden

    def either(self, x):
        if x > 2:
            return [y for y in (1, 2) if (lambda: y)() > 1]

        def inner():
            return "inner"

        try:
            return inner() + str(x)
        finally:
            self.x = x

    def nothing(self):
        self.x += 1

    def only_described(self):
        """Nothing else."""

    def fails(self, x):
        if x:
            raise ValueError(x)
        return [each.function for each in inspect.stack()[:2]]

    def warns(self):
        warnings.warn("from here", stacklevel=2)

    def again(self, n):
        return n and n + self.again(n - 1)

    def stops(self):
        raise StopIteration("mine")

    def each(self):
        yield 1


@pytest.fixture
def hooks(monkeypatch):
    may_be_hooked(monkeypatch, __name__)
    hooks = MethodHooks("test", pytest.fail)
    yield hooks
    hooks.remove()


@pytest.fixture(params=["in one frame", "without source"])
def either_way(request, monkeypatch):
    if request.param == "without source":
        monkeypatch.setattr(surrounded_code, "_template", lambda _: None)


@pytest.mark.usefixtures("either_way")
def test_a_hook_gets_arguments_results_and_errors(hooks):
    told = []

    def hook(*args, **kwargs):
        told.append((args[1:], kwargs))
        try:
            told.append((yield))
        except BaseException as error:
            told.append(repr(error))
            raise

    for name in ("__init__", "either", "nothing", "only_described", "fails", "stops"):
        hooks.surround(Library, name, hook)
    made = Library(1, 2, 3, 4, d=5, f=6)
    assert made.hidden() == (1, 2, (4,), 5, 5, {"f": 6})
    assert told.pop(0)[0][:4] == (1, 2, 3, 4)
    assert told == [None]
    told.clear()
    assert (made.either(3), made.either(1), made.x) == ([2], "inner1", 1)
    assert (made.nothing(), made.x, made.only_described()) == (None, 2, None)
    assert told[1::2] == [[2], "inner1", None, None]
    told.clear()
    with pytest.raises(ValueError, match="7"):
        made.fails(7)
    with pytest.raises(StopIteration, match="mine"):
        made.stops()
    assert told[1::2] == ["ValueError(7)", "StopIteration('mine')"]


@pytest.mark.usefixtures("either_way")
def test_what_a_hook_returns_is_returned_and_hooks_are_nested(hooks):
    def named(name):
        def hook(_, __):
            result = yield
            return f"{name}({result})"

        return hook

    other = MethodHooks("other", pytest.fail)
    hooks.surround(Library, "either", named("inner"))
    other.surround(Library, "either", named("outer"))
    assert Library(1, d=1).either(1) == "outer(inner(inner1))"
    hooks.remove()
    assert Library(1, d=1).either(1) == "outer(inner1)"
    other.remove()
    assert Library(1, d=1).either(1) == "inner1"


class Counting(surrounded_code.Surrounding):
    """Notes what it is called with."""

    def __init__(self):
        self.told = []

    def begin(self, *args, **kwargs):
        self.told.append((args[1:], kwargs))
        return len(self.told)

    def end(self, begun, result):
        self.told.append((begun, result))
        return f"{result}!"

    def fail(self, begun, error):
        self.told.append((begun, repr(error)))


@pytest.mark.usefixtures("either_way")
def test_a_hook_that_is_no_generator_does_the_same(hooks):
    counting = Counting()
    hooks.surround(Library, "either", counting)
    hooks.surround(Library, "fails", counting)
    made = Library(1, d=1)
    assert made.either(1) == "inner1!"
    with pytest.raises(ValueError, match="7"):
        made.fails(7)
    assert counting.told == [((1,), {}), (1, "inner1"), ((7,), {}), (3, "ValueError(7)")]


def test_hooks_of_both_forms_are_nested(hooks):
    counting, other = Counting(), MethodHooks("other", pytest.fail)

    def doubled(*_):
        return f"2{(yield)}"

    hooks.surround(Library, "either", doubled)
    other.surround(Library, "either", counting)
    assert Library(1, d=1).either(1) == "2inner1!"
    other.remove()
    other.surround(Library, "fails", doubled)
    other.surround(Library, "fails", counting)
    with pytest.raises(ValueError, match="7"):
        Library(1, d=1).fails(7)
    other.remove()
    assert counting.told[1][1] == "2inner1"


def test_a_function_may_be_surrounded_and_replaced_and_calls_itself(hooks):
    calls = []

    def hook(_, n):
        calls.append(n)
        yield

    other = MethodHooks("other", pytest.fail)
    hooks.surround(Library, "again", hook)
    other.replace(Library, "again", lambda own: lambda library, n: own(library, n) * 10)
    assert Library(1, d=1).again(1) == 10
    other.remove()
    assert Library(1, d=1).again(3) == 6
    assert calls == [1, 0, 3, 2, 1, 0]


def passes(*_, **__):
    yield


def test_stacks_tracebacks_and_warnings_are_those_without(hooks):
    made = Library(1, d=1)

    def seen():
        with pytest.raises(ValueError, match="7") as raised:
            made.fails(7)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made.warns()
        frames = traceback.extract_tb(raised.tb)
        places = [(frame.name, frame.lineno, frame.filename) for frame in frames]
        return places, [(each.filename, each.lineno) for each in caught], made.fails(0)

    plain, code = seen(), Library.fails.__code__
    for name in ("fails", "warns"):
        hooks.surround(Library, name, passes)
    assert Library.fails.__code__ is not code
    assert seen() == plain
    assert plain[2] == ["fails", "seen"]
    assert plain[1][0][0] == __file__
    hooks.remove()
    assert Library.fails.__code__ is code


def test_a_hook_that_fails_at_the_end_does_not_hide_the_error(hooks):
    def hook(*_):
        try:
            yield
        finally:
            raise KeyError("of the hook")

    hooks.surround(Library, "fails", hook)
    with pytest.raises(ValueError, match="7") as raised:
        Library(1, d=1).fails(7)
    assert [frame.name for frame in traceback.extract_tb(raised.tb)][1:] == ["fails"]


def test_a_generator_function_is_called_by_its_hook(hooks):
    hooks.surround(Library, "each", passes)
    assert list(Library(1, d=1).each()) == [1]


def test_a_file_that_has_changed_since_it_was_imported_is_not_used(hooks, monkeypatch):
    changed = [line.replace("self.x += 1", "self.x += 2") for line in linecache.getlines(__file__)]
    entry = (len("".join(changed)), None, changed, __file__)
    monkeypatch.setitem(linecache.cache, __file__, entry)
    surrounded_code._parsed.cache_clear()
    surrounded_code._template.cache_clear()
    hook = surrounded_code.as_surrounding(passes, pytest.fail)
    assert surrounded_code.surround(Library.nothing.__code__, [hook]) is None
    assert surrounded_code.surround(Library.hidden.__code__, [hook]) is not None
    hooks.surround(Library, "nothing", passes)
    made = Library(1, d=1)
    made.nothing()
    assert made.x == 4
    surrounded_code._parsed.cache_clear()
    surrounded_code._template.cache_clear()


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("when", ["before", "after", "never yields"])
def test_what_a_hook_raises_itself_is_told_and_the_program_goes_on(monkeypatch, when):
    may_be_hooked(monkeypatch, __name__)
    told = []

    def hook(*_):
        if when == "before":
            raise KeyError("mine")
        if when == "never yields":
            return
        yield
        raise KeyError("mine")

    hooks = MethodHooks("test", told.append)
    hooks.surround(Library, "either", hook)
    hooks.surround(Library, "fails", hook)
    made = Library(1, d=1)
    try:
        assert made.either(1) == "inner1"
        with pytest.raises(ValueError, match="7"):
            made.fails(7)
    finally:
        hooks.remove()
    assert [type(each) for each in told] == {
        "before": [KeyError, KeyError],
        "after": [KeyError],  # of the one that fails, `yield` raises
        "never yields": [StopIteration, StopIteration],
    }[when]


def test_a_generator_function_needs_somebody_who_is_told_its_errors(monkeypatch):
    may_be_hooked(monkeypatch, __name__)
    with pytest.raises(TypeError, match="`fail`"):
        MethodHooks("test").surround(Library, "either", passes)

"""The one place where the functions of other libraries are hooked.

A hooked function stays the same object in the same place: only its `__code__` is exchanged, for
code with the same parameters, name, file, and line that runs the hook. So whatever a library or
a program compares, wraps, stores, inspects, or pickles is what it was without the monitor
(Keras compares `type(model).compile` with `Trainer.compile` when it loads a model), and what
somebody else puts over the function later stays in place when the hook goes.

A hook that stands before and after the function's own lines (`surround`) has no frame while the
function runs; one that calls the function (`replace`) has, and is only taken out of tracebacks
(in Python 3.10 they show one frame). So a function below which the program's code runs,
operations are made, or warnings come is surrounded.

Cost: 0.1 us a call of a function that is replaced, 0.5 us of one that is surrounded.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Collection
from types import CodeType, FunctionType, TracebackType
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks import surrounded_code
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround, Surrounding

Method = Callable[..., Any]

LIBRARIES: Collection[str] = ("keras", "tensorboard", "tensorflow", "tf_keras")
"""Packages whose functions may be hooked."""
_OURS: Final = "tb_slowdown_plugin"
_CALL, _HIDE = "tb_slowdown_plugin call", "tb_slowdown_plugin hide"
_TEMPLATE: Final = """
def enclosing({free}):
    def function({parameters}):
        tbslow_call = {call!r}
        try:
            return tbslow_call({arguments})
        except BaseException as tbslow_error:
            tbslow_hide = {hide!r}
            tbslow_hide(tbslow_error)
            raise
        {free}
    return function
"""


class Replaced(NamedTuple):
    """A function that is hooked now."""

    place: str
    """Module, class, and name: "keras.src.trainers.trainer.Trainer.compile"."""
    by: str
    """The collector."""


class MethodHooks:
    """Hooks of one collector.

    Only functions of the libraries are hooked, on the class or module that defines them: a
    method that a program defines or overrides itself is left alone.

    Args:
      by: Name of the collector.
      fail: Is told what a generator function that surrounds raises itself: the program never gets
        it. None where all hooks replace, or are a `Surrounding`, and guard themselves.

    Example:
      >>> import keras
      >>> class Classifier(keras.Model): ...
      >>> count, hooks = keras.Model.count_params, MethodHooks("example")
      >>> hooks.replace(Classifier, "count_params", lambda original: lambda model: -1)
      >>> Classifier().count_params(), keras.Model.count_params is count
      (-1, True)
      >>> replaced()[0]
      Replaced(place='keras.src.layers.layer.Layer.count_params', by='example')
      >>> hooks.remove()
    """

    def __init__(self, by: str, fail: Callable[[Exception], object] | None = None) -> None:
        self._by = by
        self._fail = fail
        self._hooks: list[tuple[FunctionType, _Hook]] = []

    def replace(self, owner: Any, name: str, wrap: Callable[[Method], Method]) -> None:
        """Calls of `owner.name` go to `wrap(original)` from now on.

        Args:
          owner: A class or a module.
          name: A function, method, static method, class method, or property of it.
          wrap: Called with a function that does what `owner.name` did; called once more for
            each other hook of the same function that comes or goes.

        Raises:
          Unavailable: There is no Python function of a library.
        """
        self._add(owner, name, wrap, None)

    def surround(self, owner: Any, name: str, hook: Surround | Surrounding) -> None:
        """Runs `hook` before and after `owner.name`.

        Args:
          owner: A class or a module.
          name: A function, method, static method, class method, or property of it.
          hook: A generator function with the same parameters, see `Surround`, or, where each
            microsecond counts, a `Surrounding`.

        Raises:
          Unavailable: There is no Python function of a library.

        Example:
          >>> import keras
          >>> def timed(model):
          ...     print("begins")
          ...     count = yield
          ...     print("has counted", count)
          >>> hooks = MethodHooks("example", print)
          >>> hooks.surround(keras.Model, "count_params", timed)
          >>> inputs = keras.Input((4,))
          >>> keras.Model(inputs, inputs).count_params()
          begins
          has counted 0
          0
          >>> hooks.remove()
        """
        surrounding = surrounded_code.as_surrounding(hook, self._fail)
        self._add(owner, name, functools.partial(_called_by, surrounding), surrounding)

    def _add(
        self, owner: Any, name: str, wrap: Callable[[Method], Method], surround: Surrounding | None
    ) -> None:
        place, function = _find(owner, name)
        if any(function is hooked for hooked, _ in self._hooks):  # by another subclass
            return
        hook = _Hook(Replaced(place, self._by), wrap, surround)
        with _lock:
            hooked = _hooked.setdefault(function, _Hooked(function))
            hooked.hooks.append(hook)
            hooked.install()
        self._hooks.append((function, hook))

    def remove(self) -> None:
        """Takes out these hooks and no others; without hooks a function has its own code."""
        with _lock:
            while self._hooks:
                function, hook = self._hooks.pop()
                hooked = _hooked[function]
                hooked.hooks.remove(hook)
                hooked.install()
                if not hooked.hooks:
                    del _hooked[function]


def replaced() -> list[Replaced]:
    """All functions that are hooked now, by place."""
    with _lock:
        return sorted(hook.what for hooked in _hooked.values() for hook in hooked.hooks)


class _Hook(NamedTuple):
    what: Replaced
    wrap: Callable[[Method], Method]
    """For a function whose source is not there, if it has a `surround`."""
    surround: Surrounding | None


class _Hooked:
    """A function and its hooks, innermost first."""

    def __init__(self, function: FunctionType) -> None:
        self.hooks: list[_Hook] = []
        self._function = function
        self._current = self._own = function.__code__

    def install(self) -> None:
        """Exchanges the code, unless somebody else has exchanged it meanwhile."""
        if self._function.__code__ is not self._current:
            return
        surrounds = [hook.surround for hook in self.hooks if hook.surround is not None]
        inner = surrounded_code.surround(self._own, surrounds) if surrounds else None
        wraps = [hook.wrap for hook in self.hooks if inner is None or hook.surround is None]
        code = inner or self._own
        if wraps:
            call: Method = self._copy(code)
            for wrap in wraps:
                call = wrap(call)
            code = _calling(self._own, call)
        self._function.__code__ = self._current = code

    def _copy(self, code: CodeType) -> FunctionType:
        function = self._function
        copy = FunctionType(
            code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        functools.update_wrapper(copy, function, updated=())
        return copy


_lock: Final = threading.RLock()
_hooked: Final[dict[FunctionType, _Hooked]] = {}


def _called_by(surrounding: Surrounding, original: Method) -> Method:
    """A function that calls `original` where it can't be surrounded."""

    def call(*args: Any, **kwargs: Any) -> Any:
        begun = surrounding.begin(*args, **kwargs)
        try:
            return surrounding.end(begun, original(*args, **kwargs))
        except BaseException as error:
            surrounding.fail(begun, error)
            raise

    return call


def _find(owner: Any, name: str) -> tuple[str, FunctionType]:
    """The function, and the place where it is defined."""
    for holder in getattr(owner, "__mro__", (owner,)):
        found = vars(holder).get(name)
        if inspect.ismodule(holder):  # it may load what it has only when it is asked
            found = getattr(holder, name, None)
        if found is None:
            continue
        function = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
        while function is not None and not _is_of_library(function):
            # A program has put its own function there: the library's is under it.
            function = getattr(function, "__wrapped__", None)
        if function is not None:
            return f"{_path(holder, function)}.{name}", function
    raise Unavailable(f"{getattr(owner, '__name__', owner)} has no function {name}")


def _is_of_library(function: Any) -> bool:
    if not isinstance(function, FunctionType):
        return False
    return str(function.__globals__.get("__name__")).partition(".")[0] in LIBRARIES


def _path(holder: Any, function: FunctionType) -> str:
    if inspect.ismodule(holder):
        return function.__module__
    return f"{holder.__module__}.{holder.__qualname__}"


def _calling(code: CodeType, call: Method) -> CodeType:
    """Code that looks like `code` from outside, and calls `call` with its arguments."""
    template = _template(code)
    objects = {_CALL: call, _HIDE: _hide_hooks}
    constants = tuple(
        objects.get(each, each) if isinstance(each, str) else each for each in template.co_consts
    )
    return template.replace(co_consts=constants)


@functools.cache
def _template(code: CodeType) -> CodeType:
    positional, keywords, several, named = surrounded_code.parameters_of(code)
    parameters = [*positional]
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if several or keywords:
        parameters.append(several or "*")
    source = _TEMPLATE.format(
        free=", ".join(code.co_freevars) or "",
        parameters=", ".join(filter(None, [*parameters, *keywords, named])),
        arguments=surrounded_code.arguments_of(code),
        call=_CALL,
        hide=_HIDE,
    )
    compiled = compile(source, code.co_filename, "exec", dont_inherit=True)
    (enclosing,) = _codes_in(compiled)
    (template,) = _codes_in(enclosing)
    names_of = {
        each: getattr(code, each) for each in ("co_name", "co_qualname") if hasattr(code, each)
    }
    return template.replace(co_firstlineno=code.co_firstlineno, **names_of)


def _codes_in(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _hide_hooks(error: BaseException) -> None:
    """Takes the frames of the hook and its caller out of a traceback that begins with them."""
    trace: TracebackType | None = error.__traceback__
    trace = trace and trace.tb_next
    while trace is not None and _is_ours(trace):
        trace = trace.tb_next
    if trace is not None:  # else the hook itself has failed
        error.__traceback__ = trace


def _is_ours(trace: TracebackType) -> bool:
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == _OURS

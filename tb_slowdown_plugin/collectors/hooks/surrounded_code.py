"""The code of a function with hooks before and after its own lines, in one frame.

A function that is called by its hook has the frame of the hook above its own: users find it in
TensorFlow's "Detected at node ... defined at", in `inspect.stack()`, and as the place of a warning
(`stacklevel=2`). So the function is compiled again from its source, at the same lines, with the
hooks in it. Where the source is not there, or is not that of the code, there is none.

Cost: 5 to 30 ms for each function, once a process; 0.5 us a call.
"""

from __future__ import annotations
import __future__

import abc
import ast
import contextlib
import functools
import linecache
from collections.abc import Callable, Generator, Iterator, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import Any, Final, TypeAlias

Surround: TypeAlias = Callable[..., Generator[None, Any, Any]]
"""Called with the arguments of the function. It yields once, for the function to run: the yield
gives its result, or raises its error. What it returns, but None, is returned instead."""

_HOOKS: Final = "tb_slowdown_plugin hooks"
_NOT_CALLED_AT_ONCE: Final = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_FEATURES: Final = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_TEMPLATE: Final = f"""
tbslow_hooks = {_HOOKS!r}
tbslow_begun = tbslow_hooks.begin({{arguments}})
try:
    pass
except BaseException as tbslow_error:
    tbslow_hooks.fail(tbslow_begun, tbslow_error)
    raise
"""
_END: Final = "tbslow_hooks.end(tbslow_begun, None)"


class Surrounding(abc.ABC):
    """What runs before and after a function's own lines.

    For what runs between two steps: a `Surround` takes 10 us more there, out of a cold cache.
    """

    __slots__ = ()

    @abc.abstractmethod
    def begin(self, *args: Any, **kwargs: Any) -> Any:
        """Called with the arguments of the function; gives what `end` and `fail` are handed."""

    @abc.abstractmethod
    def end(self, begun: Any, result: Any) -> Any:
        """Called with what the function returns; gives what is returned instead."""

    @abc.abstractmethod
    def fail(self, begun: Any, error: BaseException) -> None:
        """The function, or `end`, has raised an error, which stays as it is."""


class _Generator(Surrounding):
    """A hook that is a generator function; what it raises itself stays here."""

    __slots__ = ("_fail", "_hook")

    def __init__(self, hook: Surround, fail: Callable[[Exception], object]) -> None:
        self._hook = hook
        self._fail = fail

    def begin(self, *args: Any, **kwargs: Any) -> Generator[None, Any, Any] | None:
        try:
            begun = self._hook(*args, **kwargs)
            next(begun)
        except Exception as error:  # noqa: BLE001 - the program goes on without the hook
            self._fail(error)
            return None
        return begun

    def end(self, begun: Generator[None, Any, Any] | None, result: Any) -> Any:
        if begun is None:
            return result
        try:
            begun.send(result)
        except StopIteration as end:
            return result if end.value is None else end.value
        except Exception as error:  # noqa: BLE001 - the program goes on without the hook
            self._fail(error)
        return result

    def fail(self, begun: Generator[None, Any, Any] | None, error: BaseException) -> None:
        if begun is None:
            return
        trace = error.__traceback__
        with contextlib.suppress(BaseException):  # the same error
            begun.throw(error)
        error.__traceback__ = trace


class _Nested(Surrounding):
    """Two hooks of one function, one around the other."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, inner: Surrounding, outer: Surrounding) -> None:
        self._inner = inner
        self._outer = outer

    def begin(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        around = self._outer.begin(*args, **kwargs)
        try:
            return around, self._inner.begin(*args, **kwargs)
        except BaseException as error:
            self._outer.fail(around, error)
            raise

    def end(self, begun: tuple[Any, Any], result: Any) -> Any:
        around, within = begun
        return self._outer.end(around, self._inner.end(within, result))

    def fail(self, begun: tuple[Any, Any], error: BaseException) -> None:
        around, within = begun
        self._inner.fail(within, error)
        self._outer.fail(around, error)


def as_surrounding(
    hook: Surround | Surrounding, fail: Callable[[Exception], object] | None
) -> Surrounding:
    """Either form of a hook as one that can be put into code.

    Args:
      hook: A `Surrounding` guards itself.
      fail: Is told what a generator function raises itself: the function that it surrounds, and
        so the program, goes on as if it were not there.

    Raises:
      TypeError: A generator function without `fail`.
    """
    if isinstance(hook, Surrounding):
        return hook
    if fail is None:
        raise TypeError("a generator function that surrounds needs `fail`, for what it raises")
    return _Generator(hook, fail)


def surround(code: CodeType, hooks: Sequence[Surrounding]) -> CodeType | None:
    """The code with hooks, the last one around all others; None where there can be none."""
    template = _template(code)
    if template is None:
        return None
    surrounding = functools.reduce(_Nested, hooks)
    constants = tuple(surrounding if each == _HOOKS else each for each in template.co_consts)
    return template.replace(co_consts=constants)


def arguments_of(code: CodeType) -> str:
    """The parameters of a function, as it would hand them on."""
    positional, keywords, several, named = parameters_of(code)
    given = [*positional, several, *(f"{name}={name}" for name in keywords), named]
    return ", ".join(filter(None, given))


def parameters_of(code: CodeType) -> tuple[list[str], list[str], str, str]:
    """Positional ones, those by keyword only, `*args`, and `**kwargs`; "" where there is none."""
    names = list(code.co_varnames)
    positional = names[: code.co_argcount]
    rest = names[code.co_argcount + code.co_kwonlyargcount :]
    keywords = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    several = f"*{rest.pop(0)}" if code.co_flags & 0x04 else ""
    named = f"**{rest.pop(0)}" if code.co_flags & 0x08 else ""
    return positional, keywords, several, named


@functools.cache
def _template(code: CodeType) -> CodeType | None:
    if code.co_flags & _NOT_CALLED_AT_ONCE:
        return None
    return _compile_alone(code) or _compile_in_file(code)


def _compile_alone(code: CodeType) -> CodeType | None:
    """From the lines of the function and the imports of its file: 2 ms for 40 ms of a whole file.

    It is known by its code to be the same; where it is not, the whole file is read.
    """
    *around, name = getattr(code, "co_qualname", code.co_name).split(".")
    if len(around) > 1 or name != code.co_name:
        return None
    try:
        block = _lines_of(code)
        module = ast.parse(f"class {around[0]}:\n{''.join(block)}" if around else "".join(block))
        ast.increment_lineno(module, code.co_firstlineno - 1 - len(around))
        (statement,) = module.body
        node = statement.body[0] if isinstance(statement, ast.ClassDef) else statement
        if isinstance(node, ast.FunctionDef) and _is_at(node, code):
            return _compile(ast.Module([*_imports_of(code.co_filename), statement], []), node, code)
    except (OSError, SyntaxError, ValueError, IndexError, RecursionError):
        pass
    return None


def _lines_of(code: CodeType) -> list[str]:
    """The source of a function, with its decorators; not by `inspect`, whose tokenizer is slow."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    codes = (code, *_codes_in(code))
    last = max(line for each in codes for *_, line in each.co_lines() if line is not None)
    end = last - code.co_firstlineno + 1
    outside = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    while end < len(lines) and lines[end].startswith((f"{outside} ", "\n")):
        end += 1
    return lines[:end]


@functools.lru_cache(maxsize=8)
def _imports_of(file: str) -> list[ast.stmt]:
    """The imports that begin a line: what was imported by name is called by other bytecode."""
    found, is_open = [], False
    for line in linecache.getlines(file):
        if is_open or line.startswith(("import ", "from ")):
            found.append(line)
            is_open = (is_open or "(" in line) and ")" not in line
    return ast.parse("".join(found)).body


def _compile_in_file(code: CodeType) -> CodeType | None:
    try:
        module = _parsed(code.co_filename)
        for statement in filter(_defines, module.body):
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef) and _is_at(node, code):
                    # What was imported by name is called by other bytecode.
                    around = [each for each in module.body if not _defines(each)]
                    return _compile(ast.Module([*around, statement], []), node, code)
    except (OSError, SyntaxError, ValueError, RecursionError):
        pass
    return None


@functools.lru_cache(maxsize=1)  # a collector's hooks are mostly in one file
def _parsed(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _defines(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef | ast.FunctionDef)


def _is_at(node: ast.FunctionDef, code: CodeType) -> bool:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def _compile(module: ast.Module, node: ast.FunctionDef, code: CodeType) -> CodeType | None:
    if code not in _codes_in(_compiled(module, code)):  # the file is not what was imported
        return None
    _surround(node, arguments_of(code))
    for each in _codes_in(_compiled(module, code)):
        if each.co_name == code.co_name and each.co_firstlineno == code.co_firstlineno:
            return each
    return None


def _compiled(module: ast.Module, code: CodeType) -> CodeType:
    compiled: CodeType = compile(
        module,
        code.co_filename,
        "exec",
        flags=code.co_flags & _FEATURES,
        dont_inherit=True,
    )
    return compiled


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes_in(each)


def _surround(node: ast.FunctionDef, arguments: str) -> None:
    described = 0 if ast.get_docstring(node, clean=False) is None else 1
    own = node.body[described:] or [ast.copy_location(ast.Pass(), node.body[-1])]
    added = ast.parse(_TEMPLATE.format(arguments=arguments)).body
    for each in added:
        _move(each, node)
    around = added[-1]
    assert isinstance(around, ast.Try)
    returns = _Returns()
    around.body = [returns.visit(each) for each in own]
    around.body.append(returns.visit(ast.copy_location(ast.Return(), own[-1])))
    node.body = [*node.body[:described], *added]


def _move(added: ast.AST, to: ast.AST) -> None:
    for each in ast.walk(added):
        if hasattr(each, "lineno"):
            ast.copy_location(each, to)


class _Returns(ast.NodeTransformer):
    """Hands what a function returns to the hooks; functions inside of it are left alone."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        end = ast.parse(_END, mode="eval").body
        assert isinstance(end, ast.Call)
        _move(end, node)
        if node.value is not None:
            end.args[1] = node.value
        return ast.copy_location(ast.Return(end), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

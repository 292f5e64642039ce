"""Where a function was written, in words that may stand in a bug report.

A place is "file:line" with the file relative to the working directory, to
site-packages, to the import path or to its package: never absolute, so that no user or
machine name gets into a logdir.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed

_SITE_PACKAGES = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
_NOTEBOOK_CELL = re.compile(r"[/\\]ipykernel_\d+[/\\]|^<ipython-input-(?P<number>\d+)-")
_MAX_WRAPPERS = 20
"""Functions wrapped deeper than this are taken as they are; nobody was seen above 4."""


_DEFINES: Final = re.compile(r"\s*(?:async\s+)?def\s")
_MOST_DECORATING: Final = 40
"""Lines of decorators above a function, at most."""

COMPREHENSIONS: Final = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
"""Names of code of Python's own making, in a line of the program."""

FILES: Final[dict[str, str]] = {}
"""File as records name it -> file of this process; "" where several have that name."""


@dataclass(frozen=True, slots=True)
class SourcePlaces:
    """Turns files of this process into places relative to roots that are not private.

    Example:
      >>> places = SourcePlaces(working_directory="/home/ann/project", import_path=())
      >>> places.at("/home/ann/project/models/train.py", 41)
      'models/train.py:41'
      >>> places.at("/opt/env/lib/python3.11/site-packages/keras/src/trainer.py", 7)
      'keras/src/trainer.py:7'
      >>> places.at("/home/bob/elsewhere.py", 3)
      'elsewhere.py:3'
    """

    working_directory: str
    import_path: tuple[str, ...]
    """Further directories that files may be relative to."""

    @classmethod
    def of_process(cls) -> SourcePlaces:
        """The roots of this process, as they are now."""
        try:
            here = str(Path.cwd())
        except OSError:  # the directory was deleted
            here = ""
        return cls(here, (sysconfig.get_path("stdlib"), *sys.path))

    def at(self, file: str, line: int) -> str:
        """A place as "file:line".

        Args:
          file: As in `__code__.co_filename`; names like "<stdin>" stay.
          line: Counts from 1.
        """
        return f"{self.shorten(file)}:{line}"

    def in_code(self, code: CodeType, line: int) -> str:
        """A line of a function in words: "Replay.sample (agent.py:88)".

        A comprehension is a line of the function around it. Python 3.10 knows functions by their
        last name only: "sample (agent.py:88)", "<listcomp> (agent.py:88)".
        """
        names = getattr(code, "co_qualname", code.co_name).split(".<locals>.")
        while len(names) > 1 and names[-1] in COMPREHENSIONS:
            names.pop()
        return f"{names[-1]} ({self.at(code.co_filename, line)})"

    def of_operation(self, operation: Any) -> str:
        """The innermost line of the program that made it; "" where TensorFlow doesn't know."""
        for frame in reversed(operation.traceback or ()):
            if not is_installed(frame.filename):
                return f"{frame.name} ({self.at(frame.filename, frame.lineno)})"
        return ""

    def of_parting(self, operation: Any, other: Any) -> tuple[str, int]:
        """The line of the program that made an operation and not another, which it is like.

        Such as that of the second of two calls of a model, in which both operations have one line.

        Returns:
          The line, "" where TensorFlow doesn't know, and that of the other; 0 in another file.
        """
        both = zip(operation.traceback or (), other.traceback or (), strict=False)
        found: tuple[str, int] = ("", 0)
        for one, beside in both:
            if not is_installed(one.filename):
                place = f"{one.name} ({self.at(one.filename, one.lineno)})"
                found = place, beside.lineno if beside.filename == one.filename else 0
            if (one.filename, one.lineno) != (beside.filename, beside.lineno):
                break
        return found

    def shorten(self, file: str) -> str:
        """A file relative to the innermost root it lies under, else to its package."""
        short = _shorten(self, file)
        known = FILES.setdefault(short, file)
        if known != file:
            FILES[short] = ""
        return short


def is_made_within(operation: Any, method: str) -> bool:
    """Whether a library's method of that name calls what made an operation of a graph.

    Behind the innermost line of the program, if TensorFlow knows one.
    """
    for frame in reversed(operation.traceback or ()):
        if not is_installed(frame.filename):
            return False
        if frame.name == method:
            return True
    return False


def number_cells_anew() -> None:
    """For a run that begins: cells of a notebook have the numbers that they have now."""
    _shorten.cache_clear()


def line_of(frame: FrameType) -> int:
    """The line that a frame is in; that of its function where the interpreter is between lines.

    So it may be in a frame of another thread, as `while` and `for` have instructions of no line.
    """
    line: int | None = frame.f_lineno
    return frame.f_code.co_firstlineno if line is None else line


def line_of_definition(code: CodeType) -> int:
    """The line of a function's `def`, below its decorators; its first line without its source."""
    first = code.co_firstlineno
    if not linecache.getline(code.co_filename, first).lstrip().startswith("@"):
        return first
    below = (
        number
        for number in range(first + 1, first + _MOST_DECORATING)
        if _DEFINES.match(linecache.getline(code.co_filename, number))
    )
    return next(below, first)


def unwrap(function: Any) -> Any:
    """The function that the user wrote, under decorators, partials and methods.

    An object that is called through `__call__` gives that method's function.
    What has no Python code under it is given back as far as it could be unwrapped.
    """
    for _ in range(_MAX_WRAPPERS):
        inner = unwrap_once(function)
        if inner is None:
            break
        function = inner
    return function


def unwrap_once(function: Any) -> Any:
    """What lies directly under a decorator, partial or method, None under a plain function."""
    if isinstance(function, functools.partial):
        return function.func
    # tf.function's own decorators keep the original here, not in `__wrapped__`
    decorator = getattr(function, "_tf_decorator", None)
    for holder, attribute in (
        (decorator, "_decorated_target"),
        (function, "__wrapped__"),
        (function, "__func__"),
    ):
        inner = getattr(holder, attribute, None)
        if inner is not None and inner is not function:
            return inner
    if not hasattr(function, "__code__"):
        called = inspect.getattr_static(type(function), "__call__", None)
        if hasattr(called, "__code__"):
            return called
    return None


def code_of(function: Any) -> CodeType | None:
    """The code under a callable, None for one that is not written in Python."""
    code = getattr(unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None


def name_of(function: Any) -> str:
    """The qualified name without the functions around it: "Model.step", "make.<lambda>".

    Example:
      >>> def outer():
      ...     def train_step(): ...
      ...     return train_step
      >>> name_of(outer())
      'train_step'
    """
    inner = unwrap(function)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    before, local, last = str(name).rpartition(".<locals>.")
    if local and last == "<lambda>":
        return f"{before.rpartition('.')[2]}.<lambda>"
    return last


def closure_of(function: Any) -> dict[str, Any]:
    """The variables that a function holds from the functions around it, by name."""
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    return {
        name: contents
        for name, cell in zip(code.co_freevars, cells, strict=True)
        if (contents := _contents_of(cell)) is not None
    }


def _contents_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


@functools.lru_cache(maxsize=1024)
def _shorten(places: SourcePlaces, file: str) -> str:
    if cell := _NOTEBOOK_CELL.search(file):
        return _name_of_cell(file, cell["number"])
    if file.startswith("<"):
        return file
    if found := _SITE_PACKAGES.match(file):
        return file[found.end() :].replace("\\", "/")
    path = Path(os.path.normpath(file))  # `python ../train.py` is in no folder ".."
    if not path.is_absolute():
        return path.name if ".." in path.parts else path.as_posix()
    given = (places.working_directory, *places.import_path)
    roots = [root for root in map(os.path.normpath, filter(None, given)) if _is_telling(root)]
    below = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    if not below:
        return _below_package(path)
    if path.is_relative_to(places.working_directory) and _is_telling(places.working_directory):
        return below[0].as_posix()
    return min(below, key=lambda part: len(part.parts)).as_posix()


def _name_of_cell(file: str, number: str | None) -> str:
    """A notebook's cell as its tracebacks name it: "<In[5]>"; "<notebook>" where that is unknown.

    A cell whose text runs again has a new number in IPython from then on, and here from the next
    `number_cells_anew`: in a run a line is one line.
    """
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_shell() if get_shell is not None else None
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = named(file) if named is not None else None
    if found is not None:
        return f"<{found[1]}>"
    return f"<In[{number}]>" if number else "<notebook>"


def _below_package(path: Path) -> str:
    """A file under the name of its package: editable installs are on no import path."""
    root = path.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    return path.relative_to(root).as_posix() if _is_telling(str(root)) else path.name


def _is_telling(root: str) -> bool:
    """Whether what lies below a directory may be shown: not if that can be a user's name."""
    if not root or not Path(root).is_absolute():
        return False
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    directory = Path(root)
    above_home = home is not None and directory != home and home.is_relative_to(directory)
    return len(directory.parts) > 1 and not above_home

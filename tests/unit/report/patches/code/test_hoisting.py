"""A statement goes before the outermost loop that it can leave, and no farther."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tb_slowdown_plugin.report.patches.code.hoisting import hoist
from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError


def hoisted(text: str, part: str = "make(") -> str:
    source = Source(Path("t.py"), "t.py", text.encode())
    (statement,) = (
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and part in ast.unparse(node)
    )
    return source.edited(hoist(source, statement))


def test_it_leaves_all_loops_that_it_can() -> None:
    text = "for a in b:\n    use(a)\n    for c in d:\n        f = make(1)\n        f(c)\n"
    left = "f = make(1)\nfor a in b:\n    use(a)\n    for c in d:\n        f(c)\n"
    kept = "for a in b:\n    use(a)\n    f = make(a)\n    for c in d:\n        f(c)\n"
    assert hoisted(text) == left
    assert hoisted(text.replace("make(1)", "make(a)")) == kept


def test_a_loop_in_a_function_is_left_but_not_the_function() -> None:
    text = "def train():\n    while going():\n        f = make()  # once\n        f(1)\n"
    assert hoisted(text) == (
        "def train():\n    f = make()  # once\n    while going():\n        f(1)\n"
    )


def test_the_step_of_the_monitor_is_left_too() -> None:
    text = "for x in d:\n    with tbslow.summary.step():\n        f = make()\n        f(x)\n"
    assert hoisted(text) == (
        "f = make()\nfor x in d:\n    with tbslow.summary.step():\n        f(x)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "f = make()\n",
        "for x in d:\n    f = make()\n",
        "for x in d:\n    if x:\n        f = make()\n    f(x)\n",
        "for x in d:\n    with tape:\n        f = make()\n        f(x)\n",
        "for x in d:\n    f = make(); f(x)\n    g()\n",
        "for x in d:\n    def g():\n        f = make()\n    g()\n",
        "for x in d:\n    f = make(x)\n    g()\n",
        "for x in d:\n    n = 2\n    f = make(n)\n",
        "for x in d:\n    f = make()\n    f = f + 1\n",
        "for x in d:\n    f = make(n)\n    n += 1\n",
        "for x in d:\n    f = make(n)\n    for n in x:\n        g()\n",
        "for x in d:\n    f = make((n := 2))\n    g()\n",
        "for x in d:\n    f = make('''\n    ''')\n    g()\n",
        "for x in d:\n    f = make(n)\n    with a() as n:\n        g()\n",
        "for x in d:\n    f = make(n)\n    del n\n",
        "for x in d:\n    f = make(n)\n    import n\n",
        "for x in d:\n    f = make(n)\n    n.append(2)\n",
        "for x in d:\n    f = make(n)\n    n[0] = 2\n",
        "for x in d:\n    if x:\n        continue\n    f = make()\n    use(f)\n",
        "for x in d:\n    if not exists(x):\n        break\n    f = make()\n    use(f)\n",
        "for x in d:\n    f = make()\n    f.rate = 2\n",
        "for x in d:\n    f = make(n)\n    g()\ndef g():\n    global n\n    n = 2\n",
        "for x in d:\n    f = make(a.n)\n    g()\ndef g():\n    a.n = 2\n",
        "for x in d:\n    f = make()\n    g()\ndef g():\n    k.clear_session()\n",
    ],
)
def test_it_stays_where_something_matters_to_it(text: str) -> None:
    with pytest.raises(UncertainError):
        hoisted(text)

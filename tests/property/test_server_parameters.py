"""Whatever a request says, the answer is JSON: data, or what was wrong with the request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import event_files
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.reader.extent import Extent, extent_of
from tb_slowdown_plugin.reader.run_store import Listing, Seen
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.report.json_body import (
    compact_json,
)
from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.params import ParameterError
from tb_slowdown_plugin.server.routes import ROUTES
from tb_slowdown_plugin.server.runs import Runs

ROWS = 300

numbers = st.one_of(
    st.text(max_size=30),
    st.integers(-5, ROWS + 5).map(str),
    st.integers().map(str),
    st.floats().map(str),
)
queries = st.fixed_dictionaries(
    {},
    optional={
        "run": st.one_of(st.just("run1"), st.text(max_size=80)),
        "base": st.one_of(st.just('["run1"]'), st.text(max_size=30)),
        "runs": st.one_of(st.just('["run1"]'), st.text(max_size=30)),
        "first": numbers,
        "last": numbers,
        "buckets": numbers,
    },
)


class OneRun:
    """A source with one run of plain steps."""

    def listing(self) -> Listing:
        return Listing({"run1": Seen(1, event_files.STARTED)}, 0)

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        return {name: extent_of(self.run(name)) for name in names}

    def first_part(self, name: str) -> None:
        """All is read at once."""

    def progress(self, name: str) -> None:
        """Nothing is being read."""

    def run(self, name: str) -> Run:
        return Run(
            name,
            event_files.make_steps(ROWS),
            no_signals(),
            (),
            Environment(),
            (Session("0123abcd", 0, event_files.STARTED, 1, 0),),
        )


RUNS = Runs(OneRun(), follow)


def answer_or_refusal(route: str, query: dict[str, str]) -> dict[str, Any] | str:
    try:
        return ROUTES[route](RUNS, query)
    except (ParameterError, UnknownRunError) as refusal:
        return str(refusal)


@settings(max_examples=300, deadline=None)
@given(route=st.sampled_from(sorted(ROUTES)), query=queries)
def test_each_request_is_answered_or_refused(route: str, query: dict[str, str]) -> None:
    answer = answer_or_refusal(route, query)
    if isinstance(answer, str):
        assert len(answer) < 500
        assert answer.isprintable()
        return
    assert compact_json(answer).startswith("{")
    if route == "/timeline":
        assert 0 <= answer["first"] <= answer["last"] < ROWS
        assert sum(answer["count"]) == answer["last"] - answer["first"] + 1
        assert len(answer["row"]) <= int(query.get("buckets", 800))

"""The one-file page: its policy, its escaping, its size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from event_files import make_steps, split

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import assemble
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, SignalTable
from tb_slowdown_plugin.report.embedded_answers import GRADES, EmbeddedRun, embed, fit, to_json
from tb_slowdown_plugin.report.html_page import to_html

NAME = "</script><!--\u2028&lt;"


def recorded(count: int, name: str = "run1") -> Run:
    rows = np.arange(0, count, 10)
    signals = SignalTable(1e9 + rows, rows, {"rss_bytes": 1e9 + rows * 1e3})
    chunks = split(
        make_steps(count, seed=1),
        chunk_rows=1000,
        signals=signals,
        environment=Environment(versions={"tensorflow": "2.21.0"}),
    )
    records = [Record(name, tag(c.session, c.sequence), c.sequence, encode(c)) for c in chunks]
    run = assemble(name, lambda: records)
    assert run is not None
    return run


def packed(count: int, name: str = "run1") -> EmbeddedRun:
    run = recorded(count, name)
    return embed(run, account_for(run))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "index.js"
    path.write_text("function a$(){}export{a$ as render};")
    return path


def data_of(page: str) -> dict:
    (data,) = re.findall(r'<script type="application/json" id="tbslow-data">(.*?)</script>', page)
    return json.loads(data)


def test_the_policy_allows_this_script_and_no_network(bundle: Path) -> None:
    page = to_html([packed(300)], text="", made=0.0, bundle=bundle)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == "function a$(){}void a$();"
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "http:" not in page
    assert "https:" not in page


def test_names_cannot_end_their_element_and_come_back_whole(bundle: Path) -> None:
    page = to_html([packed(300, NAME)], text=NAME, made=0.0, bundle=bundle)
    assert page.count("</script") == 2
    assert "<!--" not in page
    assert data_of(page)["runs"]["runs"][0]["run"] == NAME
    assert list(data_of(page)["of"]) == [NAME]


def test_it_says_which_runs_when_and_with_what_versions(bundle: Path) -> None:
    page = to_html([packed(300)], text="the text", made=1_795_000_000.0, bundle=bundle)
    assert "run1, reported on 2026-11-18 11:06 UTC by tbslow " in page
    assert "run1: 300 steps, begun 2026-11-18 11:06 UTC; tensorflow 2.21.0" in page
    assert "<noscript><pre>the text</pre></noscript>" in page


@pytest.mark.parametrize(
    ("name", "titled", "said"),
    [
        ("run1", "run1", "run1, worker 0, one of 2 workers"),
        ("run1/slowdown/worker-1", "run1, worker 1", "run1, worker 1, one of 2 workers"),
    ],
)
def test_it_says_which_worker_it_shows(bundle: Path, name: str, titled: str, said: str) -> None:
    run = recorded(300, name)
    run = replace(run, name=name, workers=(recorded(300, "other"),))
    page = to_html([embed(run, account_for(run), title=titled)], text="", made=0.0, bundle=bundle)
    assert f"<summary>{said}, reported on " in page
    assert f"<li>{said}: 300 steps" in page


def test_the_answers_are_those_of_the_routes() -> None:
    body = json.loads(packed(300).grades[0])
    assert body["report"]["runs"][0]["run"] == "run1"
    assert body["retraces"]["groups"] == []
    (tile,) = body["tiles"]
    assert (tile["first"], tile["last"], tile["bucket_rows"]) == (0, 299, 1)
    assert "signals" not in tile
    (signal,) = body["signals"]
    assert signal["row"] == list(range(0, 300, 10))


def test_a_long_run_has_several_levels_and_its_beginning_row_by_row() -> None:
    run = packed(60_000)
    tiles = json.loads(run.grades[0])["tiles"]
    shapes = [(tile["first"], tile["last"], tile["bucket_rows"]) for tile in tiles]
    assert shapes == [(0, 59_999, 5), (0, 59_999, 19), (0, 59_999, 75), (0, 3_199, 1)]
    for finer, coarser in zip(run.grades, run.grades[1:], strict=False):
        assert len(coarser) < len(finer)
    assert len(run.grades) == len(GRADES)


def test_the_finest_grade_that_fits_is_taken() -> None:
    runs = [packed(60_000, "a"), packed(60_000, "b")]
    for grade in range(len(GRADES)):
        room = sum(len(run.grades[grade]) for run in runs) + 6_000  # and what differs
        text = fit(runs, room)
        assert len(text) <= room
        assert json.loads(text)["of"]["b"] == json.loads(runs[1].grades[grade])


def test_runs_that_never_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 runs? take.*choose one with --run"):
        fit([packed(300)], 100)


@pytest.mark.parametrize("module", ["let a", "let s='</script>';export{a as render};"])
def test_a_bundle_that_cannot_be_inlined_is_refused(tmp_path: Path, module: str) -> None:
    path = tmp_path / "index.js"
    path.write_text(module)
    with pytest.raises(InputError, match="can't stand inside a report"):
        to_html([packed(300)], text="", made=0.0, bundle=path)


def test_a_missing_bundle_says_what_builds_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="scripts/build_frontend builds it"):
        to_html([packed(300)], text="", made=0.0, bundle=tmp_path / "none.js")


def test_json_has_no_character_that_html_reads() -> None:
    text = to_json({"<&>": float("nan")})
    assert json.loads(text) == {"<&>": None}
    assert not set("<>&") & set(text)

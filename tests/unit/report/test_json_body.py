from __future__ import annotations

import json
from dataclasses import replace

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.json_body import (
    report_json,
)


def test_the_json_has_the_keys_of_the_contract_in_their_order(slow: Report) -> None:
    body = json.loads(report_json([slow]))
    assert list(body) == ["schema", "runs"]
    assert body["schema"] == 1
    (run,) = body["runs"]
    assert list(run) == [
        "run",
        "verdict",
        "headline",
        "steps",
        "wall_seconds",
        "healthy_step_seconds",
        "baseline",
        "lost_seconds",
        "lost_fraction",
        "unexplained_seconds",
        "causes",
        "suspects",
        "workers",
        "signals",
        "completeness",
        "notes",
        "confirming",
        "as_of",
        "recent",
        "unexplained",
        "judged",
        "blind_spots",
        "source",
        "scalars",
        "step_rule",
        "stall",
        "remaining",
        "ended",
        "annotations",
        "python",
        "investigation",
        "restarting_growth",
        "steady",
        "settings",
    ]
    assert list(run["causes"][0]) == [
        "cause",
        "lost_seconds",
        "lost_fraction",
        "pattern",
        "confidence",
        "steps",
        "summary",
        "evidence",
        "advice",
        "parts",
        "external",
        "place",
        "confirmed",
        "subject",
        "rank",
    ]


def test_values_arrive_as_they_are(slow: Report) -> None:
    (run,) = json.loads(report_json([slow]))["runs"]
    assert run["wall_seconds"] == 9300.0
    assert run["causes"][0]["steps"] == [1200, 12344]
    assert run["causes"][0]["advice"] == [
        {
            "text": "Pass a tensor. A tensor's value is not part of the key.",
            "code": "- train_step(batch, temperature)\n"
            "+ train_step(batch, tf.constant(temperature))",
            "price": "None.",
            "where": "where `train_step` is called",
            "kind": "example",
            "lines": [],
        }
    ]
    assert run["suspects"][0]["seconds"] == 40.0
    assert run["signals"][1] == {
        "signal": "gpu_memory",
        "status": "unavailable",
        "reason": "no GPU visible to TensorFlow",
    }
    assert run["completeness"] == {"chunks": 49, "missing_chunks": 0}


def test_what_is_not_known_is_null_and_never_a_word_that_json_lacks(slow: Report) -> None:
    text = report_json([replace(slow, lost_fraction=float("nan"), healthy_step_seconds=None)])
    assert "NaN" not in text
    (run,) = json.loads(text)["runs"]
    assert run["lost_fraction"] is None
    assert run["healthy_step_seconds"] is None


def test_the_text_is_ascii_so_that_every_pipe_takes_it(slow: Report) -> None:
    assert report_json([replace(slow, run="größe\udcff")]).isascii()

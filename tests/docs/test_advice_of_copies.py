"""Copies between host and device: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import MARKS, CaseOfAdvice, Snippet, check_all, check_case

from tb_slowdown_plugin.analysis.causes.data import (
    host_device_transfer,
)
from tb_slowdown_plugin.analysis.causes.data.host_device_transfer import (
    Copies,
)

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS


def copies_ahead(snippet: Snippet):
    names = {"ds": tf.data.Dataset.range(128).batch(64), "device": "/cpu:0"}
    ds = snippet.run("new", names)["ds"]
    assert [len(batch) for batch in ds] == [64, 64]


def copies_bytes(snippet: Snippet):
    done = snippet.run("new")
    assert float(done["train_step"](tf.constant([0, 255], tf.uint8))) == 0.5


def reads_rarely(snippet: Snippet):
    losses: list = []
    names = {"losses": losses, "dataset": range(201), "train_step": tf.constant}
    snippet.run("new", names)
    assert losses == [0.0, 100.0, 200.0]


def converts_once(snippet: Snippet):
    fed: list = []

    class Session:
        def run(self, loss, feeds):
            fed.append(feeds["rows"])
            return loss

    table = np.ones((3, 2))
    names = {"table": table, "batches": range(3), "sess": Session(), "loss": 1.0, "x": "x"}
    snippet.run("new", names | {"rows": "rows", "np": np})
    assert [each.dtype.name for each in fed] == ["float32"] * 3
    assert len({id(each) for each in fed}) == 1


CASES: dict[str, CaseOfAdvice] = {
    "ahead": (host_device_transfer.advise(Copies()), "Copy the next", copies_ahead),
    "feeds": (host_device_transfer.advise(Copies(is_fed=True)), "Feed arrays", converts_once),
    "bytes": (host_device_transfer.advise(Copies()), "Copy images", copies_bytes),
    "rarely": (host_device_transfer.advise(Copies()), "Read values", reads_rarely),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)

"""What may be private is found in texts, and what only looks like it is not."""

from __future__ import annotations

import pytest
from event_files import make_steps, split

from tb_slowdown_plugin.records.types import (
    Change,
    CollectorState,
    Environment,
    Event,
    Fact,
    Failure,
    Trace,
)
from tb_slowdown_plugin.report.share.privacy_scan import find_private, texts_of

NAMES = {"ada": "user name", "gpu-node-7": "host name", "root": "user name", "x1": "host name"}


@pytest.mark.parametrize(
    ("text", "what", "found"),
    [
        ("/home/bob/train.py:41", "absolute path", "/home/bob/train.py"),
        ("in ~/logs/run1 now", "absolute path", "~/logs/run1"),
        (r"C:\Users\bob\train.py", "absolute path", r"C:\Users\bob\train.py"),
        ("open('/mnt/data/x')", "absolute path", "/mnt/data/x"),
        ("by Ada", "user name", "Ada"),
        ("ada_net", "user name", "ada"),
        ("gpu-node-7.cluster: gone", "host name", "gpu-node-7"),
    ],
)
def test_private_texts(text: str, what: str, found: str) -> None:
    private = find_private([text], NAMES)
    assert private is not None
    assert (private.what, private.found, private.inside) == (what, found, text)
    assert find_private([text], NAMES, allowed=[found, found.lower()]) is None


@pytest.mark.parametrize(
    "text",
    [
        "train.py:41",
        "site-packages/keras/src/trainer.py:12",
        "1,200 samples /s",
        "/job:localhost/replica:0/task:0/device:GPU:0",
        "/physical_device:CPU:0",
        "tf.TensorSpec([None, 3], tf.float32)",
        "adam",
        "root of a tree, x1 and x2",
        "forward/backward",
        "and/or",
    ],
)
def test_harmless_texts(text: str) -> None:
    assert find_private([text], NAMES) is None


def test_every_text_of_a_chunk_is_looked_at() -> None:
    trace = Trace(
        1, "t-function", "t-place", 0.1, 0.1, "signature",
        changes=(Change("t-argument", "t-what", "t-before", "t-after"),),
        signature=("t-signature",), reason="t-reason",
    )  # fmt: skip
    (chunk,) = split(
        make_steps(3, accounts={"phase:t-phase": 0.01}),
        events=[
            Event(0, 1.0, trace),
            Event(0, 1.0, Failure("t-part", "t-failure")),
            Event(0, 1.0, Fact("t-fact", "t-subject", {"t-number": 1.0})),
        ],
        environment=Environment(
            versions={"t-package": "t-version"},
            devices=(("t-device", "t-kind"),),
            limits={"t-limit": 1.0},
            collectors=(CollectorState("t-collector", "off", "t-why"),),
        ),
    )
    expected = (
        "function place argument what before after signature reason part failure fact subject "
        "number package version device kind limit collector why"
    )
    texts = texts_of(chunk)
    assert {f"t-{word}" for word in expected.split()} <= texts
    assert {"phase:t-phase", "train"} <= texts

"""What the tests of Python's frames share."""

from __future__ import annotations

import pytest
from unit.collectors.stack_training import Training


@pytest.fixture
def training(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    return Training(recording, monkeypatch)

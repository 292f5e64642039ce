"""What a user can read uses the glossary's words: one for each thing."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def texts(root: Path) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("list_texts", str(root / "scripts/list_texts"))
    spec = importlib.util.spec_from_loader("list_texts", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_no_text_has_a_word_that_the_glossary_has_another_for(texts: ModuleType) -> None:
    found = [*texts.package_texts(), *texts.page_texts()]
    assert len(found) > 1500, "these are not all"
    assert [
        f"{path.name}:{line}: {text} -> {wrong}"
        for path, line, text in found
        if (wrong := texts.forbidden(text))
    ] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Steps wait for input throughout the run.", False),
        ("The step waits for data from step 3 on.", True),
        ("Lost 9% of 26.6 s to a busy machine.", True),
        ("Warm-up breakdown", False),
        ("Warm-up account", True),
        ("training stands still meanwhile", True),
    ],
)
def test_words_are_found(texts: ModuleType, text: str, wrong: bool) -> None:
    assert bool(texts.forbidden(text)) == wrong

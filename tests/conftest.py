"""What all tests share: quiet TensorFlow, and a printed reason for each test that can't run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from integration.training_host import TrainingHost

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A script that starts the tests in the background has them, and all that they start, ignore
    # Ctrl-C, which some of them send.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent))  # `import event_files` and its like

_contradictions: list[str] = []
"""What is wrong with the figures of the reports that were made since the last test."""


def _is_from_a_test(frame: FrameType | None) -> bool:
    """Whether a test wrote a report by hand, figures and all."""
    while frame is not None and Path(frame.f_code.co_filename).name == "dataclasses.py":
        frame = frame.f_back  # `replace`
    return frame is not None and Path(__file__).parent in Path(frame.f_code.co_filename).parents


@pytest.fixture(scope="session", autouse=True)
def _watched_reports() -> Iterator[None]:
    """Looks at the figures of every report that any test makes in this process."""
    from ledger_checker import ledger_contradictions
    from report_checker import contradictions

    from tb_slowdown_plugin.analysis.live import follow as live
    from tb_slowdown_plugin.analysis.report_builder import account
    from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount

    init, assemble = Report.__init__, account.assemble

    def checked_init(report: Report, *values: Any, **fields: Any) -> None:
        init(report, *values, **fields)
        if not _is_from_a_test(sys._getframe(1)):
            _contradictions.extend(contradictions(asdict(report)))

    def checked_assemble(case: Any, *values: Any, **more: Any) -> RunAccount:
        made = assemble(case, *values, **more)
        _contradictions.extend(ledger_contradictions(case.run, made))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Report, "__init__", checked_init)
        for module in (account, live):
            patch.setattr(module, "assemble", checked_assemble)
        yield


@pytest.fixture(autouse=True)
def _figures_agree(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that made a report whose figures contradict each other.

    Marked tests draw records at random, which contradict themselves: saves longer than the run.
    """
    yield
    if request.node.get_closest_marker("contradictory_records"):
        _contradictions.clear()
    wrong = list(dict.fromkeys(_contradictions))
    _contradictions.clear()
    assert not wrong, "\n".join(wrong)


def chromium() -> str | None:
    return (
        os.environ.get("TBSLOW_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


def xprof_commands() -> Path:
    """Folder of the commands of an environment that has XProf beside TensorBoard; skips without.

    It is an environment of its own, so that what runs without XProf is tested, too.
    """
    commands = Path(os.environ.get("TBSLOW_XPROF_VENV", ROOT / ".venv-xprof")) / "bin"
    if not (commands / "tensorboard").exists():
        pytest.skip(f"no XProf: {commands} is missing; scripts/test makes it")
    return commands


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also those that are marked `further`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all"):
        further = [item for item in items if "further" in item.keywords]
        items[:] = [item for item in items if item not in further]
        config.hook.pytest_deselected(items=further)
    reasons = {
        "tensorflow": None
        if importlib.util.find_spec("tensorflow")
        else "TensorFlow is not installed",
        "browser": None
        if chromium() and importlib.util.find_spec("playwright")
        else "no Chromium or no Playwright",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and marker in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingHost]:
    """A process that has imported TensorFlow, and forks programs that are as good as fresh ones."""
    from integration.training_host import training_host

    with training_host(tmp_path_factory.mktemp("host")) as host:
        yield host


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT

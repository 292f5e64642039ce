"""Reports as one HTML file: the page of the Slowdown tab with its data inside, and no network."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from tb_slowdown_plugin._paths import STATIC
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.report.embedded_answers import EmbeddedRun, fit
from tb_slowdown_plugin.report.formats.html_file import html_file, made_by

MOST_BYTES: Final = 2_000_000
"""A page, whatever the runs' length: it is attached to issues and sent by mail."""
_EXPORT: Final = re.compile(r"export\s*\{\s*([\w$]+) as render\s*\};?\s*$")

_STYLE: Final = (
    ".made { margin: 8px 24px; font: 12px/1.5 system-ui, sans-serif; color: var(--text-2, #555) }"
)

_BODY: Final = """\
<details class="made"><summary>{made}</summary><ul>{runs}</ul></details>
<noscript><pre>{text}</pre></noscript>
<script type="application/json" id="tbslow-data">{data}</script>
<script type="module">{script}</script>"""


def to_html(
    runs: Sequence[EmbeddedRun],
    *,
    text: str,
    made: float,
    most_bytes: int = MOST_BYTES,
    bundle: Path = STATIC / "report.js",
) -> str:
    """The page of some runs.

    Args:
      runs: From `embed`, at least one.
      text: The same reports as text, for readers without JavaScript.
      made: Unix seconds, now.
      most_bytes: How large it may be; timelines are coarser where there is less room.
      bundle: The built frontend in one module.

    Raises:
      InputError: The runs do not fit, or the frontend is not built.
    """
    script = _script(bundle)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    counted = _labeled(runs[0]) if len(runs) == 1 else f"{len(runs)} runs"
    values = {
        "made": html.escape(made_by(f"{counted}, reported", made)),
        "runs": "".join(f"<li>{html.escape(_provenance(run))}</li>" for run in runs),
        "text": html.escape(text),
        "script": script,
    }

    def page(data: str) -> str:
        body = _BODY.format(**values, data=data)
        return html_file(title=f"Slowdown: {counted}", policy=policy, style=_STYLE, body=body)

    return page(fit(runs, most_bytes - len(page("").encode())))


def _script(bundle: Path) -> str:
    """The bundle as an inline module that draws the page by itself."""
    try:
        module = bundle.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"the page is not built ({error.strerror}); scripts/build_frontend builds it"
        ) from error
    started, count = _EXPORT.subn(r"void \1();", module)
    if count != 1 or re.search(r"</script|<!--", started, re.IGNORECASE):
        raise InputError(
            "the built page can't stand inside a report; build it with scripts/build_frontend"
        )
    return started


def _labeled(run: EmbeddedRun) -> str:
    """A run's title; of one of several workers also which of them the page shows."""
    workers = run.listed["workers"]
    if workers == 1:
        return run.title
    chief = "" if run_name(run.name)[1] else ", worker 0"
    return f"{run.title}{chief}, one of {workers} workers"


def _provenance(run: EmbeddedRun) -> str:
    began = run.listed["started"]
    when = ""
    if began is not None:
        when = datetime.fromtimestamp(began, timezone.utc).strftime(", begun %Y-%m-%d %H:%M UTC")
    versions = ", ".join(f"{package} {version}" for package, version in run.versions.items())
    return (
        f"{_labeled(run)}: {run.listed['steps']:,} steps{when}{'; ' if versions else ''}{versions}"
    )

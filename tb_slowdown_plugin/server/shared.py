"""A run as a page in one file, made when somebody asks for it in the tab."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tb_slowdown_plugin.report.embedded_answers import embed
from tb_slowdown_plugin.report.html_page import to_html
from tb_slowdown_plugin.report.text_report import to_text
from tb_slowdown_plugin.server.runs import Analysis


class SharedPages:
    """Makes what `tbslow report --format html` writes; safe for many threads.

    One page at a time: of 1,000,000 steps it takes 4 s on a busy machine, and many may
    ask at once.

    Args:
      bundle: The built frontend, which stands in the page.
      clock: Unix seconds.
    """

    def __init__(self, bundle: Path, clock: Callable[[], float] = time.time) -> None:
        self._bundle = bundle
        self._clock = clock
        self._making = threading.Lock()

    def of(self, analysis: Analysis, title: str) -> str:
        """The page of one run, as far as it has come, under the name that a person knows.

        Raises:
          InputError: The frontend is not built, or the run does not fit into a page.
        """
        with self._making:
            run = embed(analysis.run, analysis.account, title=title)
            text = to_text([replace(analysis.account.report, run=title)])
            return to_html([run], text=text, made=self._clock(), bundle=self._bundle)

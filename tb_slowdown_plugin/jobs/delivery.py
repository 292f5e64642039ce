"""Sends notices to a command or a webhook in a background thread, in order, with retries."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final, Protocol
from urllib.parse import urlsplit

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.notices import Notice, notice_body

_MAX_WAITING: Final = 1000
"""Notices that wait to be sent; more are dropped, with a line."""
_TRIES: Final = 6
_FIRST_REST_SECONDS: Final = 1.0
"""Before the second try; it doubles."""
_TIMEOUT_SECONDS: Final = 10.0
_COMMAND_SECONDS: Final = 60.0
_MAX_SAID_BYTES: Final = 200
"""Of what a command wrote before it failed."""
TOKEN: Final = "TBSLOW_WEBHOOK_TOKEN"
"""Environment variable with a bearer token for the webhook; with _FILE appended, a file with it."""


class NoticeSink(Protocol):
    """Where a notice goes."""

    name: str

    def send(self, notice: Notice) -> None:
        """Sends one.

        Raises:
          Undelivered: It did not arrive.
        """


class Undelivered(Exception):
    """A notice did not arrive; `is_final` where trying again is no use."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class Command:
    """Runs a shell command for each notice, with its JSON on stdin.

    Args:
      command: For `/bin/sh`.
      is_quiet: Keep what it writes off stdout and stderr: they are a screen.
      timeout_seconds: After so long it is killed.
    """

    name = "--exec"

    def __init__(
        self, command: str, *, is_quiet: bool = False, timeout_seconds: float = _COMMAND_SECONDS
    ) -> None:
        self._command = command
        self._is_quiet = is_quiet
        self._timeout_seconds = timeout_seconds

    def send(self, notice: Notice) -> None:
        """Runs it once; a command is never tried again, since it may have done half of its work."""
        body = json.dumps(notice_body(notice)) + "\n"
        try:
            # A file, not a pipe: what the command leaves in the background would hold a pipe open.
            with tempfile.TemporaryFile() as said:
                out = said if self._is_quiet else None
                status = subprocess.run(
                    ["/bin/sh", "-c", self._command],
                    input=body.encode(),
                    timeout=self._timeout_seconds,
                    stdout=out,
                    stderr=out,
                    check=False,
                ).returncode
                why = _last_line(said) if status else ""
        except subprocess.TimeoutExpired as error:
            seconds = f"{self._timeout_seconds:.0f} s"
            raise Undelivered(f"the command did not end within {seconds}", is_final=True) from error
        except OSError as error:
            raise Undelivered(str(error.strerror or error), is_final=True) from error
        if status:
            raise Undelivered(f"the command ended with status {status}{why}", is_final=True)


def _last_line(said: IO[bytes]) -> str:
    said.seek(max(0, said.seek(0, os.SEEK_END) - _MAX_SAID_BYTES))
    lines = said.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({last})" if last else ""


class Webhook:
    """Posts each notice as JSON whose `text` Slack and its likes show.

    Args:
      address: An http or https address, `env:NAME`, or `file:PATH` that holds it: an address can
        be a secret.
      environment: Where `env:NAME` and the token are looked up.
    """

    name = "--webhook"

    def __init__(self, address: str, environment: Mapping[str, str] = os.environ) -> None:
        self._url = _secret(address, environment)
        if urlsplit(self._url).scheme not in ("http", "https"):
            raise InputError("--webhook: expected an http or https address, env:NAME, or file:PATH")
        self._token = environment.get(TOKEN, "")
        if not self._token and f"{TOKEN}_FILE" in environment:
            self._token = _read_secret(environment[f"{TOKEN}_FILE"])

    def send(self, notice: Notice) -> None:
        """Posts it once."""
        body = json.dumps({"text": notice.text, "tbslow": notice_body(notice)}).encode()
        headers = {"Content-Type": "application/json", "User-Agent": f"tbslow/{__version__}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                answer.read(1024)
        except urllib.error.HTTPError as error:
            refused = 400 <= error.code < 500 and error.code not in (408, 429)
            raise Undelivered(f"it answered {error.code}", is_final=refused) from error
        except (OSError, ValueError) as error:  # the address stays out: it may be a secret
            reason = getattr(error, "reason", None) or error.__class__.__name__
            raise Undelivered(f"it can't be reached ({reason})") from error


class Delivery:
    """Hands notices to a sink in a thread of its own; the watch never waits for it.

    Args:
      sink: Where they go.
      warn: Gets a line for each notice that did not arrive.
      sleep: Between two tries.
    """

    def __init__(
        self,
        sink: NoticeSink,
        warn: Callable[[str], None],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sink = sink
        self._warn = warn
        self._sleep = sleep
        self._waiting: queue.Queue[Notice | None] = queue.Queue(_MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name=f"tbslow {sink.name}", daemon=True)
        self._thread.start()

    def put(self, notice: Notice) -> None:
        """Sends it soon."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            self._warn(f"{self._sink.name}: {_MAX_WAITING} notices wait; dropped: {notice.text}")

    def close(self, seconds: float = _TIMEOUT_SECONDS) -> None:
        """Waits for what is under way, but not for long."""
        try:
            self._waiting.put(None, timeout=seconds)
        except queue.Full:
            return
        self._thread.join(seconds)

    def _run(self) -> None:
        while (notice := self._waiting.get()) is not None:
            self._send(notice)

    def _send(self, notice: Notice) -> None:
        rest = _FIRST_REST_SECONDS
        for tries in range(1, _TRIES + 1):
            try:
                self._sink.send(notice)
                return
            except Undelivered as error:
                if error.is_final or tries == _TRIES:
                    self._warn(f"{self._sink.name}: {error}; not delivered: {notice.text}")
                    return
            self._sleep(rest)
            rest *= 2


def _secret(address: str, environment: Mapping[str, str]) -> str:
    if address.startswith("env:"):
        name = address.removeprefix("env:")
        if not environment.get(name):
            raise InputError(f"--webhook {address}: the environment variable {name} is not set")
        return environment[name]
    if address.startswith("file:"):
        return _read_secret(address.removeprefix("file:"))
    return address


def _read_secret(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read '{path}' for --webhook") from error

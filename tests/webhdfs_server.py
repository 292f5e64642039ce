"""Serves a directory by the WebHDFS REST protocol, as a name node and a data node in one.

Only what reading takes: LISTSTATUS, GETFILESTATUS, and OPEN with its redirect to the data node,
with Hadoop's own errors. It is not Hadoop: no blocks, no replication, no Kerberos.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_PREFIX = "/webhdfs/v1"
_DATA = "/data"


@dataclass
class WebHdfs:
    """A running server.

    Args:
      root: What it serves as "/".
      refuse_every: Each so many requests one is answered with 503; 0 for none.
    """

    root: Path
    refuse_every: int = 0
    address: str = ""
    """Such as "webhdfs://localhost:9870"."""
    requests: int = 0
    refused: int = 0


@contextlib.contextmanager
def serve_webhdfs(root: Path, *, refuse_every: int = 0) -> Iterator[WebHdfs]:
    """Serves a directory until the end of the block."""
    state = WebHdfs(root, refuse_every)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        """One request."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                state.requests += 1
                every = state.refuse_every
                is_refused = every and state.requests % every == 0
                state.refused += bool(is_refused)
            url = urllib.parse.urlsplit(self.path)
            path = urllib.parse.unquote(url.path)
            asked = dict(urllib.parse.parse_qsl(url.query))
            if is_refused:
                self.send(503, b"busy")
            elif path.startswith(_DATA):
                first = int(asked["offset"])
                data = _local(path.removeprefix(_DATA)).read_bytes()
                self.send(200, data[first : first + int(asked["length"])])
            else:
                self.ask_name_node(path.removeprefix(_PREFIX), asked)

        def ask_name_node(self, path: str, asked: dict[str, str]) -> None:
            file = _local(path)
            if not file.exists():
                error = {
                    "exception": "FileNotFoundException",
                    "javaClassName": "java.io.FileNotFoundException",
                    "message": f"File {path} does not exist.",
                }
                self.send(404, json.dumps({"RemoteException": error}).encode())
            elif asked["op"] == "LISTSTATUS":
                listed = sorted(file.iterdir()) if file.is_dir() else [file]
                found = [_status(each, each.name if file.is_dir() else "") for each in listed]
                body = {"FileStatuses": {"FileStatus": found}}
                self.send(200, json.dumps(body).encode())
            elif asked["op"] == "GETFILESTATUS":
                self.send(200, json.dumps({"FileStatus": _status(file, "")}).encode())
            else:
                assert asked["op"] == "OPEN"
                query = urllib.parse.urlencode({k: asked[k] for k in ("offset", "length")})
                place = urllib.parse.quote(f"{_DATA}{path}")
                self.send(307, b"", f"http://localhost:{server.server_port}{place}?{query}")

        def send(self, status: int, body: bytes, location: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing of requests."""

    def _local(path: str) -> Path:
        return root / path.strip("/")

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.address = f"webhdfs://localhost:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _status(file: Path, name: str) -> dict[str, Any]:
    state = file.stat()
    return {
        "accessTime": int(1000 * time.time()),
        "blockSize": 1 << 27,
        "group": "supergroup",
        "length": 0 if file.is_dir() else state.st_size,
        "modificationTime": int(1000 * state.st_mtime),
        "owner": "webuser",
        "pathSuffix": name,
        "permission": "644",
        "replication": 1,
        "type": "DIRECTORY" if file.is_dir() else "FILE",
    }

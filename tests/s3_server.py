"""An S3 server of moto in a process of its own: real HTTP, late answers, and 503 now and then.

    python tests/s3_server.py DELAY_SECONDS REFUSE_EVERY

Prints its address. Each request is answered DELAY_SECONDS late, and each REFUSE_EVERY-th with
503 Slow Down, as a busy bucket does; 0 for none. The path /refused says how many were.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

BUCKET = "bucket"
_SLOW_DOWN = (
    b"<?xml version='1.0'?><Error><Code>SlowDown</Code>"
    b"<Message>Please reduce your request rate.</Message></Error>"
)


class Busy:
    """An application in front of another one, which it delays, and refuses at times."""

    def __init__(self, inner: Any, delay_seconds: float, refuse_every: int) -> None:
        self._inner = inner
        self._delay_seconds = delay_seconds
        self._refuse_every = refuse_every
        self._lock = threading.Lock()
        self._requests = self._refused = 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/refused":
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [f"{self._refused} {self._requests}".encode()]
        if environ["REQUEST_METHOD"] == "PUT":  # filling it is not what is tested
            answer: Iterable[bytes] = self._inner(environ, start_response)
            return answer
        time.sleep(self._delay_seconds)
        with self._lock:
            self._requests += 1
            refuse = self._refuse_every and self._requests % self._refuse_every == 0
            self._refused += bool(refuse)
        if refuse:
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [_SLOW_DOWN]
        found: Iterable[bytes] = self._inner(environ, start_response)
        return found


class S3:
    """A running server."""

    def __init__(self, address: str) -> None:
        self.address = address

    @property
    def environment(self) -> dict[str, str]:
        """For processes that read from it; the last one is TensorBoard's own."""
        return {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
            "S3_ENDPOINT": self.address,
        }

    def put(self, folder: Path, prefix: str) -> None:
        """Copies the files below a folder."""
        import botocore.session

        client = botocore.session.Session().create_client(
            "s3",
            endpoint_url=self.address,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        )
        with contextlib.suppress(client.exceptions.BucketAlreadyOwnedByYou):
            client.create_bucket(Bucket=BUCKET)
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                key = f"{prefix}/{file.relative_to(folder).as_posix()}"
                client.put_object(Bucket=BUCKET, Key=key, Body=file.read_bytes())
        client.close()

    def refused(self) -> tuple[int, int]:
        """Requests that were refused, and all."""
        with urllib.request.urlopen(f"{self.address}/refused") as answer:
            refused, requests = answer.read().split()
        return int(refused), int(requests)


@contextlib.contextmanager
def serve_s3(delay_seconds: float = 0.0, refuse_every: int = 0) -> Iterator[S3]:
    """Starts a server."""
    command = [sys.executable, __file__, str(delay_seconds), str(refuse_every)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield S3(process.stdout.readline().strip())
        finally:
            process.kill()


def main(delay_seconds: float, refuse_every: int) -> None:
    """Serves until it is killed."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *_: Any) -> None:
            """Says nothing of requests."""

    application = Busy(DomainDispatcherApplication(create_backend_app), delay_seconds, refuse_every)
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))

"""Notices reach a command and a real HTTP server, in order, also when it refuses at first."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from unit.jobs.looks import cause_of, look_of

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.delivery import Command, Delivery, Undelivered, Webhook
from tb_slowdown_plugin.jobs.notices import Notices


class Hook:
    """An HTTP server that answers with these statuses, then with 200."""

    def __init__(self, *statuses):
        self.bodies = []
        self.headers = []
        waiting = list(statuses)
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = waiting.pop(0) if waiting else 200
                if status == 200:
                    hook.bodies.append(json.loads(body))
                    hook.headers.append(dict(self.headers))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False  # closing it waits for the last post
        self.url = f"http://127.0.0.1:{self.server.server_port}/services/secret"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def hook(request):
    made = Hook(*getattr(request, "param", ()))
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def notices():
    return Notices().update([look_of(causes=(cause_of(), cause_of("disk")))])


def deliver(sink, notices):
    warnings, rests = [], []
    delivery = Delivery(sink, warnings.append, sleep=rests.append)
    for notice in notices:
        delivery.put(notice)
    delivery.close(30.0)
    return warnings, rests


def test_a_webhook_gets_each_notice_once_with_text_for_slack(hook, notices):
    warnings, rests = deliver(Webhook(hook.url, {}), notices)
    assert (warnings, rests) == ([], [])
    assert [body["text"] for body in hook.bodies] == [notice.text for notice in notices]
    assert [body["tbslow"]["cause"] for body in hook.bodies] == ["retracing", "disk"]
    assert "Authorization" not in hook.headers[0]


@pytest.mark.parametrize("hook", [(503, 429)], indirect=True)
def test_a_server_that_is_busy_is_asked_again_later(hook, notices):
    warnings, rests = deliver(Webhook(hook.url, {}), notices)
    assert warnings == []
    assert rests == [1.0, 2.0]
    assert [body["tbslow"]["cause"] for body in hook.bodies] == ["retracing", "disk"]


@pytest.mark.parametrize("hook", [(404,)], indirect=True)
def test_a_refusal_is_told_once_without_the_address(hook, notices):
    warnings, rests = deliver(Webhook(hook.url, {}), notices)
    assert rests == []
    (warning,) = warnings
    assert warning.startswith("--webhook: it answered 404; not delivered: run1: Retracing")
    assert "secret" not in warning
    assert len(hook.bodies) == 1


def test_a_server_that_is_away_is_given_up_after_six_tries(hook, notices):
    hook.server.shutdown()
    hook.server.server_close()
    warnings, rests = deliver(Webhook(hook.url, {}), notices[:1])
    assert rests == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert len(warnings) == 1
    assert "can't be reached" in warnings[0]
    assert "secret" not in warnings[0]


def test_address_and_token_come_from_environment_or_file(hook, notices, tmp_path):
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    address = tmp_path / "address"
    address.write_text(hook.url + "\n")
    environment = {"HOOK": hook.url, "TBSLOW_WEBHOOK_TOKEN_FILE": str(token)}
    for where in ("env:HOOK", f"file:{address}"):
        deliver(Webhook(where, environment), notices[:1])
    assert [each["Authorization"] for each in hook.headers] == ["Bearer s3cret"] * 2


@pytest.mark.parametrize("address", ["env:MISSING", "file:/nowhere/x", "ftp://host/x", "slack"])
def test_a_wrong_address_is_refused_at_once(address):
    with pytest.raises(InputError, match="webhook"):
        Webhook(address, {})


def test_a_command_gets_the_json_on_stdin_once_each(notices, tmp_path):
    out = tmp_path / "out"
    warnings, _ = deliver(Command(f"cat >> {out}"), notices)
    assert warnings == []
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["cause"] for line in lines] == ["retracing", "disk"]
    assert {line["schema"] for line in lines} == {1}


def test_a_command_that_fails_or_hangs_is_told_and_not_tried_again(notices):
    warnings, rests = deliver(Command("exit 3"), notices[:1])
    assert rests == []
    assert warnings[0].startswith("--exec: the command ended with status 3; not delivered: run1")
    with pytest.raises(Undelivered, match="did not end within 0 s"):
        Command("sleep 5", timeout_seconds=0.05).send(notices[0])


def test_a_command_that_fails_under_a_screen_is_quiet_and_its_last_line_is_told(notices, capfd):
    command = Command("echo out; echo no such mailbox >&2; sleep 5 & exit 3", is_quiet=True)
    warnings, _ = deliver(command, notices[:1])
    assert warnings[0].startswith("--exec: the command ended with status 3 (no such mailbox); ")
    assert capfd.readouterr() == ("", "")

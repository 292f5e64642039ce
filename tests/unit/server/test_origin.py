"""Who may ask: each way in which people come to TensorBoard, and each in which strangers try."""

from __future__ import annotations

import argparse
import socket
from typing import Any

import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.server.loader import SlowdownLoader
from tb_slowdown_plugin.server.origin import names_of, refusal

LOCAL = names_of(argparse.Namespace(host=None))


def asked(host: str, port: int = 6006, **headers: str) -> dict[str, Any]:
    names = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    remote = names.pop("HTTP_REMOTE_ADDR", "127.0.0.1")
    return {"HTTP_HOST": host, "SERVER_PORT": str(port), "REMOTE_ADDR": remote, **names}


@pytest.mark.parametrize(
    "environ",
    [
        asked("localhost:6006"),
        asked("LOCALHOST.:6006"),
        asked("127.0.0.1:6006"),
        asked("[::1]:6006"),
        asked("192.168.1.7:6006"),
        asked("[fe80::1]:6006"),
        asked("board.localhost:6006"),
        asked(f"{socket.gethostname()}:6006"),
        asked(""),  # HTTP/1.0
        asked("localhost:6006", sec_fetch_site="same-origin"),
        asked("localhost:6006", sec_fetch_site="none", sec_fetch_mode="navigate"),
    ],
)
def test_local_requests_are_answered(environ: dict[str, Any]) -> None:
    assert refusal(environ, LOCAL) is None


@pytest.mark.parametrize(
    "environ",
    [
        # jupyter-server-proxy and a notebook server on plain http
        asked("gpu-box:8888"),
        # Colab, JupyterHub, Codespaces, tunnels: https at the usual port
        asked("x-6006-colab.googleusercontent.com"),
        asked("x-6006-colab.googleusercontent.com", sec_fetch_site="same-origin"),
        asked("hub.example.org", origin="https://hub.example.org"),
        # nginx as it comes: it rewrites the name
        asked("127.0.0.1:6006", sec_fetch_site="same-origin"),
        # https by another machine, at the same port
        asked("board.example.org:6006", sec_fetch_site="same-origin"),
        # in a server of somebody's own, from another machine
        asked("board.example.org:6006", remote_addr="192.168.1.9"),
        # a link in a chat
        asked(
            "localhost:6006",
            sec_fetch_site="cross-site",
            sec_fetch_mode="navigate",
            sec_fetch_dest="document",
        ),
    ],
)
def test_proxies_and_links_are_answered(environ: dict[str, Any]) -> None:
    assert refusal(environ, LOCAL) is None


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        (asked("localhost:6006", sec_fetch_site="cross-site"), "another website asks"),
        (asked("localhost:6006", sec_fetch_site="same-site"), "another website asks"),
        (
            asked(
                "localhost:6006",
                sec_fetch_site="cross-site",
                sec_fetch_mode="navigate",
                sec_fetch_dest="iframe",
            ),
            "another website asks",
        ),
        (asked("localhost:6006", origin="http://evil.example"), "another website asks"),
        (asked("localhost:6006", origin="null"), "another website asks"),
        (asked("localhost:6006", origin="http://localhost:3000"), "another website asks"),
        (asked("evil.example:6006"), "DNS rebinding"),
        (asked("127.0.0.1.evil.example:6006"), "DNS rebinding"),
        (asked("localhost.evil.example:6006"), "DNS rebinding"),
        (asked("evil.example:6006", origin="http://evil.example:6006"), "DNS rebinding"),
        (asked("evil.example", port=80), "DNS rebinding"),
    ],
)
def test_strangers_are_refused(environ: dict[str, Any], why: str) -> None:
    told = refusal(environ, LOCAL)
    assert told is not None
    assert why in told
    assert told.isprintable()


@pytest.mark.parametrize(
    ("flags", "answered", "refused"),
    [
        ({"bind_all": True}, ["gpu-box", "evil.example"], []),
        ({}, ["gpu-box"], []),
        ({"host": None}, ["localhost"], ["gpu-box"]),
        ({"host": "0.0.0.0"}, ["gpu-box"], []),
        ({"host": "gpu-box"}, ["gpu-box", "gpu-box.lan"], []),
        ({"host": "localhost"}, ["localhost"], ["gpu-box"]),
        ({"host": "127.0.0.1"}, ["127.0.0.1"], ["gpu-box"]),
        ({"slowdown_hosts": "gpu-box, Board.lan"}, ["gpu-box", "board.lan"], ["evil.example"]),
        ({"bind_all": True, "slowdown_hosts": "gpu-box"}, ["gpu-box"], ["evil.example"]),
    ],
)
def test_which_names_are_known(
    flags: dict[str, Any], answered: list[str], refused: list[str]
) -> None:
    names = names_of(argparse.Namespace(**flags))
    assert [name for name in answered if refusal(asked(f"{name}:6006"), names)] == []
    assert [name for name in refused if not refusal(asked(f"{name}:6006"), names)] == []


def test_names_that_the_user_gave_hold_for_other_machines_too() -> None:
    names = names_of(argparse.Namespace(bind_all=True, slowdown_hosts="gpu-box"))
    assert refusal(asked("gpu-box:6006", remote_addr="192.168.1.9"), names) is None
    assert refusal(asked("evil.example:6006", remote_addr="192.168.1.9"), names) is not None


def test_the_flag_is_defined_once_and_never_stops_tensorboard() -> None:
    parser = argparse.ArgumentParser()
    SlowdownLoader().define_flags(parser)
    SlowdownLoader().define_flags(parser)
    assert parser.parse_args(["--slowdown_hosts=a,b"]).slowdown_hosts == "a,b"


def test_a_refusal_is_json_with_the_reason(client: Client) -> None:
    response = client.get("/data/plugin/slowdown/runs", headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    assert "another website asks" in response.json["error"]  # type: ignore[index]
    assert "run1" not in response.get_data(as_text=True)


@pytest.mark.parametrize("path", ["runs", "report?run=run1", "report", "index.js"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_other_site_may_embed_an_answer(client: Client, path: str, method: str) -> None:
    headers = client.open(f"/data/plugin/slowdown/{path}", method=method).headers
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers

"""Who asks: TensorBoard's own page, or another website in the same browser.

TensorBoard asks nobody for a password, so any website that the user visits while it runs may
try to have the browser fetch from it. Two ways are known, and TensorBoard refuses neither:

- The other site loads an address of ours. The browser says so (`Sec-Fetch-Site`, `Origin`).
- DNS rebinding: the other site's own name is made to point to this machine, so that the browser
  takes us for that site. The name stands in `Host`, with our port: a browser can't leave it out.

A list of good names would break those who look through a proxy (notebooks, Colab, port
forwarding), whose names nobody here can know. Each of them speaks to the browser from a port of
its own or over https, though, which rebinding can't: over plain http, at our own port, under a
name that is not ours, nobody honest comes to a server that listens on this machine alone.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from tb_slowdown_plugin.server.params import shown

HOSTS_FLAG: Final = "slowdown_hosts"
ANSWER_HEADERS: Final = (
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
)
"""On each answer: no other site may embed it, and opened by itself it is text that does nothing."""

_OUR_SITE: Final = ("same-origin", "none")
"""`none`: typed into the address bar, or a bookmark."""
_LOOPBACK: Final = ("", "localhost")
_UNKNOWN: Final = "unknown"
"""TensorBoard in somebody's own server, which listens where it likes."""


class Names(NamedTuple):
    """Under which names browsers may come."""

    known: frozenset[str]
    from_anywhere: bool
    """The user gave them: they hold for requests from other machines, too."""


def names_of(flags: Any) -> Names | None:
    """The names under which browsers may come; None for any.

    A server that others on the network reach has names that nobody knows here: its user
    gives them with `--slowdown_hosts`, or does without the check.

    Args:
      flags: TensorBoard's, with what is known of `host`, `bind_all` and `slowdown_hosts`.
    """
    given = (getattr(flags, HOSTS_FLAG, "") or "").split(",")
    names = {name.strip().lower() for name in given} - {""}
    host = getattr(flags, "host", _UNKNOWN) or ""
    if not names and (getattr(flags, "bind_all", False) or not _is_loopback(host)):
        return None
    own = socket.gethostname().lower()
    known = frozenset({*names, host.lower(), own, f"{own}.local"} - {""})
    return Names(known, from_anywhere=bool(names))


def refusal(environ: Mapping[str, Any], names: Names | None) -> str | None:
    """Why a request is not answered; None if it is.

    Args:
      environ: Of WSGI.
      names: As `names_of` makes them.
    """
    site = environ.get("HTTP_SEC_FETCH_SITE")
    if site is not None:
        if site in _OUR_SITE or _is_visit(environ):
            return None
        return f"another website asks (Sec-Fetch-Site: {shown(site)}); only this page may"
    origin = environ.get("HTTP_ORIGIN")
    host = environ.get("HTTP_HOST", "")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return f"another website asks (Origin: {shown(origin)}); only this page may"
    if names is None or not _is_at_our_port(host, environ):
        return None
    if not (names.from_anywhere or _is_loopback(environ.get("REMOTE_ADDR", ""))):
        return None  # it listens to others after all: somebody runs it in a server of their own
    name = _name(host)
    if name in names.known or _is_loopback(name) or _is_address(name):
        return None
    return (
        f"the name {shown(name)} is not known here, so this may be another website's attempt to "
        "read your data (DNS rebinding); use localhost or the machine's address, or start "
        f"TensorBoard with --{HOSTS_FLAG}=NAME"
    )


def _is_visit(environ: Mapping[str, Any]) -> bool:
    """The user follows a link to us: who sent it can't read what is shown."""
    return (
        environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
        and environ.get("HTTP_SEC_FETCH_DEST") == "document"
    )


def _is_at_our_port(host: str, environ: Mapping[str, Any]) -> bool:
    port = host.rpartition("]")[2].partition(":")[2] or "80"
    return port == str(environ.get("SERVER_PORT"))


def _name(host: str) -> str:
    """The name or address in a `Host` header, without port, brackets and a dot at its end."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    """By RFC 6761 `localhost` and all below it are this machine, whatever a name server says."""
    if name in _LOOPBACK or name.endswith(".localhost"):
        return True
    return _is_address(name) and ipaddress.ip_address(name).is_loopback

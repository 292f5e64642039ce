"""The edge to TensorBoard: requests in, answers out; nothing else here knows of HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from tensorboard import errors as tensorboard_errors
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from tensorboard.util import tb_logging
from werkzeug import wrappers
from werkzeug.datastructures import Headers

from tb_slowdown_plugin._paths import STATIC
from tb_slowdown_plugin.errors import SlowdownError
from tb_slowdown_plugin.reader.scalars.scalar_series import SCALARS_PLUGIN
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME
from tb_slowdown_plugin.report.json_body import (
    Body,
    compact_json,
)
from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.cache import (
    Answer,
    Answers,
)
from tb_slowdown_plugin.server.captures import UnknownCaptureError
from tb_slowdown_plugin.server.origin import ANSWER_HEADERS, Names, refusal
from tb_slowdown_plugin.server.own_lines import is_for
from tb_slowdown_plugin.server.params import text
from tb_slowdown_plugin.server.routes import (
    ROUTES,
    SAME_FOR_ALL,
    SETTLED,
    Parameters,
    SharedPages,
)
from tb_slowdown_plugin.server.runs import Runs

_METHODS: Final = ("GET", "HEAD")
_MOST_LOGGED: Final = 100
"""Different failures that are logged: strangers' logdirs and requests can't fill the log."""

WsgiApp: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Handler: TypeAlias = Callable[[wrappers.Request], wrappers.Response]

logger = tb_logging.get_logger()


class SlowdownPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The Slowdown tab and its routes; safe for many threads.

    Args:
      runs: What there is to answer from.
      static: Where the built frontend is.
      hosts: Names under which browsers may come (`origin.names_of`); None for any.
    """

    plugin_name = PLUGIN_NAME

    def __init__(self, runs: Runs, static: Path = STATIC, hosts: Names | None = None) -> None:
        self._runs = runs
        self._hosts = hosts
        self._answers = Answers()
        self._static = static
        self._shared = SharedPages(static / "report.js")
        self._logged: set[tuple[str, type[Exception], str]] = set()
        self._logging = threading.Lock()

    def is_active(self) -> bool:
        """No: TensorBoard shows the tab by itself once it has found a record, or a scalar."""
        return False

    def data_plugin_names(self) -> tuple[str, ...]:
        """What the tab reads: TensorBoard knows from it whether to show the tab."""
        return (PLUGIN_NAME, SCALARS_PLUGIN)

    def frontend_metadata(self) -> Any:
        """The page is an ES module, which TensorBoard loads into a frame of its own.

        TensorBoard asks when somebody opens it, about a second before that module asks us.
        """
        self._runs.prepare()
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Slowdown")

    def get_plugin_apps(self) -> Mapping[str, WsgiApp]:
        """Path below `data/plugin/slowdown` -> the WSGI application that answers it."""
        apps = {path: self._app(self._handler(path)) for path in ROUTES}
        return {
            **apps,
            "/report.html": self._app(self._send_shared),
            "/index.js": self._app(self._sender("index.js")),
            "/below.js": self._app(self._sender("below.js")),
        }

    def _handler(self, path: str) -> Handler:
        route = ROUTES[path]
        depends_on = SAME_FOR_ALL.get(path)
        settle = SETTLED.get(path)

        def handle(request: wrappers.Request) -> wrappers.Response:
            return _send(request, route(self._runs, request.args))

        def handle_same(request: wrappers.Request) -> wrappers.Response:
            args: Parameters = request.args
            if not is_for(request.remote_addr):
                args = {name: value for name, value in args.items() if name != "editor"}
            if settle is not None:
                args = settle(self._runs, args)
            run = text(args, "run")
            number = self._runs.first_look(run).number
            question = (path, *(args.get(name) for name in depends_on or ()))
            answer = self._answers.get(run, question, number, lambda: route(self._runs, args))
            return _send_kept(request, answer)

        return handle if depends_on is None else handle_same

    def _sender(self, name: str) -> Handler:
        def send(request: wrappers.Request) -> wrappers.Response:
            try:
                module = (self._static / name).read_bytes()
            except FileNotFoundError:
                unbuilt = "the page is not built; scripts/build_frontend builds it"
                return _refuse(request, 404, unbuilt)
            response = _Typed.force_type(http_util.Respond(request, module, "text/javascript"))
            response.add_etag()
            return response.make_conditional(request)

        return send

    def _send_shared(self, request: wrappers.Request) -> wrappers.Response:
        run = text(request.args, "run")
        page = self._shared.of(self._runs.analysis(run), self._runs.title(run))
        # To be saved: shown under TensorBoard's address its script could read what others serve.
        saved = [("Content-Disposition", "attachment")]
        response: wrappers.Response = http_util.Respond(request, page, "text/html", headers=saved)
        return response

    def _app(self, handle: Handler) -> WsgiApp:
        def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            answer = self._answer(handle, wrappers.Request(environ))
            answer.headers.extend(ANSWER_HEADERS)
            return answer(environ, start_response)

        return app

    def _answer(self, handle: Handler, request: wrappers.Request) -> wrappers.Response:
        if request.method not in _METHODS:
            wrong = f"method {request.method} is not allowed, only {' and '.join(_METHODS)}"
            return _refuse(request, 405, wrong, [("Allow", ", ".join(_METHODS))])
        stranger = refusal(request.environ, self._hosts)
        if stranger is not None:
            return _refuse(request, 403, stranger)
        try:
            return handle(request)
        except (UnknownRunError, UnknownCaptureError) as error:
            return _refuse(request, 404, str(error))
        except SlowdownError as error:
            return _refuse(request, 400, str(error))
        except tensorboard_errors.PublicError as error:
            return _refuse(request, error.http_code, str(error), error.headers)
        except Exception as error:  # noqa: BLE001 - TensorBoard would send an HTML page
            self._log_once(request.path, error)
            what = f"the Slowdown plugin failed ({type(error).__name__}): see TensorBoard's log"
            return _refuse(request, 500, what)

    def _log_once(self, path: str, error: Exception) -> None:
        failure = (path, type(error), str(error))
        with self._logging:
            if failure in self._logged or len(self._logged) >= _MOST_LOGGED:
                return
            self._logged.add(failure)
        logger.error("The Slowdown plugin failed at %s", path, exc_info=error)


class _Typed(wrappers.Response):
    """Says its type in a 304 too: TensorBoard's security validator demands it of each answer."""

    def get_wsgi_headers(self, environ: dict[str, Any]) -> Headers:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


def _send(request: wrappers.Request, body: Body) -> wrappers.Response:
    response: wrappers.Response = http_util.Respond(request, compact_json(body), "application/json")
    return response


def _send_kept(request: wrappers.Request, answer: Answer) -> wrappers.Response:
    response = _Typed.force_type(
        http_util.Respond(request, answer.packed, "application/json", content_encoding="gzip")
    )
    response.set_etag(answer.tag, weak=True)  # the same packed and plain
    return response.make_conditional(request)


def _refuse(
    request: wrappers.Request, code: int, error: str, headers: Iterable[tuple[str, str]] = ()
) -> wrappers.Response:
    response: wrappers.Response = http_util.Respond(
        request, compact_json({"error": error}), "application/json", code=code, headers=headers
    )
    return response
